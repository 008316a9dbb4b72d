#!/usr/bin/env python3
"""Times k-means against scikit-learn's, 20 starts by k-means++ each.

    PARTWISE_DATA=folder python3 bench/kmeans/compare.py [--repeats 3] [--only codes,coil,mnist] [--json]

The two run one after the other on the same points, with all threads, from seeds of their
own; on COIL-20 and its codes ours also with the setting refine. Printed are the medians of both programs' seconds and processor seconds, of what share of
scikit-learn's the other takes, and of both objectives. Needs Go, NumPy, SciPy and
scikit-learn. The folder holds mat/COIL20.mat and mnist/train-images-idx3-ubyte.gz.
"""
import argparse
import gzip
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np
import scipy.io
import sklearn
from sklearn.cluster import KMeans
from sklearn.decomposition import NMF

FOLDER = os.environ.get("PARTWISE_DATA", ".")


def coil():
    return np.ascontiguousarray(scipy.io.loadmat(os.path.join(FOLDER, "mat", "COIL20.mat"))["fea"], dtype=float)


def codes():
    return NMF(10, init="nndsvda", max_iter=200, tol=0).fit_transform(coil())


def mnist():
    with gzip.open(os.path.join(FOLDER, "mnist", "train-images-idx3-ubyte.gz")) as f:
        raw = f.read()
    if raw[:2] == b"\x1f\x8b":
        raw = gzip.decompress(raw)
    return np.frombuffer(raw, np.uint8, offset=16).reshape(-1, 784).astype(float) / 255


def compare(program, directory, name, x, k, repeats, variants, as_json):
    np.save(os.path.join(directory, "x.npy"), x)
    rows = {variant: [] for variant in variants}
    for seed in range(repeats):
        begin, cpu = time.perf_counter(), time.process_time()
        theirs = KMeans(k, n_init=20, random_state=seed).fit(x)
        other = time.perf_counter() - begin, time.process_time() - cpu, theirs.inertia_
        for variant, flags in variants.items():
            out = subprocess.run([program, "-dir", directory, "-k", str(k), "-seed", str(seed), *flags], check=True, capture_output=True, text=True).stdout.split()
            rows[variant].append((*other, *map(float, out[:3])))
    for variant in variants:
        theirs, theirs_cpu, theirs_objective, wall, cpu, objective = map(list, zip(*rows[variant]))
        row = {"problem": f"{name} {x.shape[0]}×{x.shape[1]}, {k} clusters{variant}", "beside": f"scikit-learn {sklearn.__version__}",
               "theirs": theirs, "ours": wall, "theirs_processor": theirs_cpu, "ours_processor": cpu,
               "note": f"objective {statistics.median(theirs_objective):.6g} and {statistics.median(objective):.6g}, "
                       f"best {min(theirs_objective):.6g} and {min(objective):.6g}"}
        if as_json:
            print(json.dumps(row), flush=True)
            continue
        shares = [statistics.median(b / a for a, b in zip(*pair)) for pair in ((theirs, wall), (theirs_cpu, cpu))]
        print(f"{row['problem']}: scikit-learn {statistics.median(theirs):.2f} s ({statistics.median(theirs_cpu):.2f} s of a processor), "
              f"partwise {statistics.median(wall):.2f} s ({statistics.median(cpu):.2f} s), 1/{1 / shares[0]:.1f} (1/{1 / shares[1]:.1f}); {row['note']}", flush=True)


def main():
    args = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    args.add_argument("--repeats", type=int, default=3)
    args.add_argument("--only", default="codes,coil,mnist")
    args.add_argument("--json", action="store_true", help="rows for bench/main.go")
    args = args.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        program = os.path.join(directory, "program")
        subprocess.run(["go", "build", "-o", program, "."], check=True,
                       cwd=os.path.dirname(os.path.abspath(__file__)), env={**os.environ, "CGO_ENABLED": "0"})
        for name, title, load, k in (("codes", "codes of COIL-20", codes, 20), ("coil", "COIL-20", coil, 20), ("mnist", "MNIST", mnist, 10)):
            if name not in args.only.split(","):
                continue
            try:
                x = load()
            except OSError as e:
                print(f"{title} is left out: {e}", file=sys.stderr)
                continue
            variants = {"": ()} if name == "mnist" else {"": (), ", `refine`": ("-refine",)}
            compare(program, directory, title, x, k, args.repeats, variants, args.json)


if __name__ == "__main__":
    main()
