#!/usr/bin/env python3
"""Times D-SNMF here against a float32 NumPy one, from the same initial factors.

    python3 bench/dsnmf/compare.py [--repeats 5] [--iterations 400] [--rank 18] [--json]

The problem has the shape of 1,300 photographs of 13 scenes in histograms of 3,200
bins, 15 % of them non-zero, all labels known. Each round times NumPy
and this program one after another. Printed are the medians of the seconds
and of the processor's seconds, what share of NumPy's seconds ours are, and the
objectives, which agree to single precision. NumPy takes all cores for its
products unless OPENBLAS_NUM_THREADS is 1; ours takes one. Needs Go and NumPy.
"""
import argparse
import json
import os
import statistics
import subprocess
import tempfile
import time

import numpy as np

MUST, CANNOT = 0.005, 1.0


def problem(n, m, classes, rank, density, seed):
    """Rows with the bins of their class and some others, at unit length."""
    rng = np.random.default_rng(seed)
    labels = np.arange(n) % classes
    likely = rng.gamma(0.3, size=(classes, m)) + 0.1 * rng.gamma(0.3, size=m)
    x = np.zeros((n, m))
    for i, c in enumerate(labels):
        p = likely[c] + 0.05 * rng.gamma(0.3, size=m)
        bins = rng.choice(m, int(density * m), replace=False, p=p / p.sum())
        x[i, bins] = 1 + rng.poisson(3 * p[bins] / p.mean())
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    return x, labels, rng.random((m, rank)) + 0.01, rng.random((n, rank)) + 0.01


def numpy_dsnmf(x, labels, u, v, iterations):
    """D-SNMF as its paper writes it, X and R dense, in single precision; the
    sums over linked samples are those of classes, not products with C. Factors
    stay above 1e-12: below, products are denormal numbers, ten times as slow."""
    x = np.ascontiguousarray(x.T, dtype=np.float32)
    u, v = u.astype(np.float32), v.astype(np.float32)
    member = (labels[:, None] == np.arange(labels.max() + 1)).astype(np.float32)
    r = np.empty_like(x)

    def ratio():
        np.matmul(u, v.T, out=r)
        np.maximum(r, 1e-30, out=r)
        np.divide(x, r, out=r)

    for _ in range(iterations):
        ratio()
        u *= (r @ v) / np.maximum(v.sum(0), 1e-30)
        u /= np.maximum(np.sqrt((u * u).sum(0)), 1e-30)
        np.maximum(u, 1e-12, out=u)
        ratio()
        sums = member.T @ v
        same = member @ sums
        must, cannot = MUST * (same - v), CANNOT * (sums.sum(0) - same)
        v *= np.sqrt((r.T @ u + 2 * must) / np.maximum(u.sum(0) + 2 * cannot, 1e-30))
        np.maximum(v, 1e-12, out=v)
    return u, v


def objective(x, labels, u, v):
    x, u, v = x.T, u.astype(float), v.astype(float)
    y = np.maximum(u @ v.T, 1e-150)
    fit = (y - x).sum() + (x * np.log(np.where(x > 0, x / y, 1))).sum()
    member = (labels[:, None] == np.arange(labels.max() + 1)).astype(float)
    sums = member.T @ v
    same = member @ sums
    return fit + (v * (CANNOT * (sums.sum(0) - same) - MUST * (same - v))).sum()


def write(directory, x, labels, u, v):
    starts = np.concatenate([[0], np.cumsum((x != 0).sum(1))])
    columns = np.nonzero(x)[1]
    for name, a in {"starts": starts, "columns": columns, "values": x[x != 0],
                    "labels": labels, "u": u, "v": v}.items():
        if a.dtype.kind == "i":
            a = a.astype(np.int64)
        np.save(os.path.join(directory, name + ".npy"), a)


def build(directory):
    path = os.path.join(directory, "partwise")
    subprocess.run(["go", "build", "-o", path, "."], check=True, cwd=os.path.dirname(os.path.abspath(__file__)),
                   env={**os.environ, "CGO_ENABLED": "0"})
    return path


def main():
    args = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    args.add_argument("--repeats", type=int, default=5)
    args.add_argument("--iterations", type=int, default=400)
    args.add_argument("--rank", type=int, default=18)
    args.add_argument("--dense", action="store_true", help="give ours the data as a dense matrix too")
    args.add_argument("--json", action="store_true", help="rows for bench/main.go")
    args = args.parse_args()
    x, labels, u, v = problem(1300, 3200, 13, args.rank, 0.15, 1)
    seconds, final = {}, {}
    with tempfile.TemporaryDirectory() as directory:
        write(directory, x, labels, u, v)
        path = build(directory)
        for _ in range(args.repeats):
            begin = time.perf_counter(), time.process_time()
            factors = numpy_dsnmf(x, labels, u, v, args.iterations)
            seconds.setdefault("numpy", []).append((time.perf_counter() - begin[0], time.process_time() - begin[1]))
            final["numpy"] = objective(x, labels, *factors)
            command = [path, "-dir", directory, "-iterations", str(args.iterations)]
            if args.dense:
                command.append("-dense")
            out = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
            seconds.setdefault("partwise", []).append((float(out[0]), float(out[1])))
            final["partwise"] = float(out[2])
    if args.json:
        theirs, theirs_cpu = zip(*seconds.pop("numpy"))
        for name, times in seconds.items():
            ours, ours_cpu = zip(*times)
            print(json.dumps({"problem": f"1300×3200, rank {args.rank}, {args.iterations} iterations", "beside": f"NumPy {np.__version__}, single precision",
                              "theirs": theirs, "ours": ours, "theirs_processor": theirs_cpu, "ours_processor": ours_cpu}))
        return
    medians = {name: [statistics.median(t) for t in zip(*times)] for name, times in seconds.items()}
    print(f"D-SNMF, 1300 samples, 3200 features, {100 * np.count_nonzero(x) / x.size:.0f} % non-zero, "
          f"rank {args.rank}, {args.iterations} iterations, median of {args.repeats}")
    for name, (wall, cpu) in medians.items():
        print(f"{name:9} {wall:7.2f} s   {wall / medians['numpy'][0]:5.2f} × numpy   "
              f"{cpu:7.2f} s of processor   objective {final[name]:.6g}")


if __name__ == "__main__":
    main()
