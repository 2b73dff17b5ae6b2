#!/usr/bin/env python3
#SBATCH --job-name=grow
#SBATCH --mem=100M
#SBATCH --time=5
#SBATCH --output=grow.txt
"""Takes 10 MB of memory twenty times a second, up to 1000 MB."""
import time

held = []
for step in range(1, 101):
    held.append(b"x" * (10 << 20))
    print(step * 10, "MB", flush=True)
    time.sleep(0.05)
time.sleep(10)
print("nothing stopped it", flush=True)
