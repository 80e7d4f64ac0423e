"""What make.py and users.py share: the folder and the seed of the command line, random pictures, and files by kind and number."""

import os, random, subprocess, sys

import numpy as np

out, seed = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 1
os.makedirs(out, exist_ok=True)
draw = random.Random(seed)
counts = {}
SIZES = [(9, 13), (21, 37), (16, 16), (1, 7), (30, 5), (33, 50)]


def path(kind, ending):
    counts[kind] = counts.get(kind, 0) + 1
    return f"{out}/{kind}-{counts[kind]:02d}.{ending}"


def write(kind, ending, data):
    name = path(kind, ending)
    with open(name, "wb") as f:
        f.write(data)
    return name


def run(*command):
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def noise(h, w, c=3, most=255):
    """A picture of a smooth part, an edge and noise: h x w x c values from 0 to most."""
    r = np.random.RandomState(draw.randrange(2**31))
    y, x = np.mgrid[0:h, 0:w]
    parts = []
    for k in range(c):
        v = (np.sin(x / (3 + k) + r.rand() * 6) + np.cos(y / (4 - k % 3) + r.rand() * 6) + 2) / 4
        v = np.where(x + y > (h + w) / 2, 1 - v, v) + r.randn(h, w) * 0.06
        parts.append(np.clip(v * most, 0, most))
    return np.stack(parts, 2).round().astype(np.int64)
