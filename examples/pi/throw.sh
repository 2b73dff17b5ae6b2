#!/bin/sh
#SBATCH --job-name=throw
#SBATCH --array=1-8
#SBATCH --time=5
#SBATCH --output=part_%a.txt

awk -v seed="$SLURM_ARRAY_TASK_ID" 'BEGIN {
	srand(seed)
	for (n = 200000; n > 0; n--) {
		x = rand(); y = rand()
		if (x * x + y * y < 1) hits++
	}
	print 200000, hits
}'
