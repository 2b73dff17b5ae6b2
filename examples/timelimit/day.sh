#!/bin/bash
#SBATCH --job-name=day
#SBATCH --time=1
#SBATCH --signal=B:USR1@30
#SBATCH --output=day.txt

save() { echo "saved after $SECONDS s" > saved.txt; }
trap save USR1

# A shell runs a trap when the command before it returns: wait does at once.
sleep 86400 &
while kill -0 $! 2>/dev/null; do wait $!; done
echo "a day has passed"
