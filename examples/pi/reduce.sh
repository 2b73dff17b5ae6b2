#!/bin/sh
#SBATCH --job-name=reduce
#SBATCH --time=5
#SBATCH --output=pi.txt

cat part_*.txt | awk '{ darts += $1; hits += $2 }
	END { printf "%d darts, pi is about %.4f\n", darts, 4 * hits / darts }'
