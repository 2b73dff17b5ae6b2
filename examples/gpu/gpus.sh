#!/bin/sh
#SBATCH --job-name=gpus
#SBATCH --gres=gpu:2
#SBATCH --time=5
#SBATCH --output=gpus.txt

echo "node $SLURMD_NODENAME"
echo "gpus on this node $SLURM_GPUS_ON_NODE"
echo "numbers $SLURM_JOB_GPUS"
echo "visible $CUDA_VISIBLE_DEVICES"
