#!/bin/bash
#SBATCH --job-name=share
#SBATCH --nodes=3
#SBATCH --ntasks-per-node=1
#SBATCH --time=5
#SBATCH --output=plan.txt

mapfile -t hosts < <(scontrol show hostnames "$SLURM_JOB_NODELIST")
if [ "${#hosts[@]}" -ne "$SLURM_JOB_NUM_NODES" ]; then
	echo "$SLURM_JOB_NODELIST has ${#hosts[@]} names for $SLURM_JOB_NUM_NODES nodes" >&2
	exit 1
fi
lines=30
share=$((lines / SLURM_JOB_NUM_NODES))
for rank in "${!hosts[@]}"; do
	echo "$rank ${hosts[$rank]} lines $((rank * share + 1)) to $(((rank + 1) * share))"
done
echo "first: $SLURMD_NODENAME, tasks: $SLURM_NTASKS, per node: $SLURM_TASKS_PER_NODE"
