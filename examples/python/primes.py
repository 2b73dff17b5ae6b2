#!/usr/bin/env python3
#SBATCH --job-name=primes
#SBATCH --ntasks=1
#SBATCH --cpus-per-task=2
#SBATCH --mem=200M
#SBATCH --time=5
#SBATCH --output=primes_%j.out
"""Counts the primes below a number with all CPUs of the job."""
import json
import multiprocessing
import os
import sys


def count(bounds):
    low, high = bounds
    return sum(
        1
        for n in range(max(low, 2), high)
        if n == 2 or n % 2 and all(n % d for d in range(3, int(n**0.5) + 1, 2))
    )


def main():
    limit = int(sys.argv[1])
    workers = int(os.environ["SLURM_CPUS_PER_TASK"])
    step = limit // workers
    parts = [(i * step, limit if i == workers - 1 else (i + 1) * step) for i in range(workers)]
    with multiprocessing.Pool(workers) as pool:
        primes = sum(pool.map(count, parts))
    result = {
        "primes": primes,
        "processes": workers,
        "job": os.environ["SLURM_JOB_ID"],
        "name": os.environ["SLURM_JOB_NAME"],
        "submitted from": os.environ["SLURM_SUBMIT_DIR"],
    }
    with open("primes.json", "w") as f:
        json.dump(result, f)
    print(primes, "primes below", limit)


if __name__ == "__main__":
    main()
