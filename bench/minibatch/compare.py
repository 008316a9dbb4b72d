#!/usr/bin/env python3
"""Times factor.MiniBatch against scikit-learn's MiniBatchNMF on the training digits of MNIST.

    PARTWISE_DATA=folder python3 bench/minibatch/compare.py [--ranks 10] [--costs frobenius,kl] [--repeats 3] [--epochs 60]

Of each start all samples in memory are factorised first, until the objective stands still:
the full objective. Then scikit-learn goes through the samples in blocks of 1024, forgetting
as it does by default, and after some epochs its objective is looked at, after 10 more steps
of the coefficients; neither is counted. It ends within 1 % of the full objective, or after
the last of the epochs. factor.MiniBatch reads the same samples from a file in blocks of
1024. Counted is all from opening that file to coefficients of all samples and their
objective. Seconds are by the clock and of a processor. The folder holds
mnist/train-images-idx3-ubyte.gz. Needs Go, NumPy and scikit-learn.
"""
import argparse
import gzip
import os
import resource
import statistics
import subprocess
import tempfile
import time

import numpy as np
import sklearn
from sklearn.decomposition import MiniBatchNMF
from sklearn.decomposition._nmf import _beta_divergence, _multiplicative_update_w
from sklearn.utils import gen_batches

LOOKED_AT = (1, 2, 3, 5, 7, 10, 15, 20, 30, 40, 60, 80, 100)


def processor():
    r = resource.getrusage(resource.RUSAGE_SELF)
    return r.ru_utime + r.ru_stime


def scikit(x, u, cost, full, epochs):
    """The fit of MiniBatchNMF, but for its tests whether to stop."""
    loss = {"frobenius": "frobenius", "kl": "kullback-leibler"}[cost]
    half = 0.5 if cost == "frobenius" else 1  # of what it calls its divergence
    n, k = x.shape[0], u.shape[1]
    model = MiniBatchNMF(k, init="custom", batch_size=1024, beta_loss=loss, random_state=0)
    model._check_params(x)
    h = np.ascontiguousarray(u.T)
    w = np.full((n, k), np.sqrt(x.mean() / k))
    h *= np.sqrt(x.mean() / k) / h.mean()
    model._components_numerator, model._components_denominator = h.copy(), np.ones(h.shape)
    wall = cpu = 0
    for epoch in range(1, epochs + 1):
        begin, used = time.perf_counter(), processor()
        for batch in gen_batches(n, 1024):
            model._minibatch_step(x[batch], w[batch], h, True)
        wall, cpu = wall + time.perf_counter() - begin, cpu + processor() - used
        if epoch not in LOOKED_AT and epoch != epochs:
            continue
        better = w.copy()
        for _ in range(10):
            better, *_ = _multiplicative_update_w(x, better, h, model._beta_loss, 0, 0, 1.0)
        objective = _beta_divergence(x, better, h, model._beta_loss) / half
        print(f"  scikit-learn: epoch {epoch}, {wall:.1f} s, {cpu:.1f} s of a processor, {100 * (objective / full - 1):+.2f} %", flush=True)
        if objective <= 1.01 * full:
            break
    return epoch, wall, cpu


def ours(program, directory, cost, *flags):
    if cost == "kl":
        flags += ("-kl",)
    out = subprocess.run([program, "-dir", directory, *flags], check=True, capture_output=True, text=True).stdout
    return [[float(word) for word in line.split()] for line in out.splitlines()]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--ranks", default="10")
    parser.add_argument("--costs", default="frobenius,kl")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--first", type=int, default=0, help="seed of the first start")
    parser.add_argument("--epochs", type=int, default=60, help="of scikit-learn at most")
    args = parser.parse_args()
    print("scikit-learn", sklearn.__version__)
    with gzip.open(os.path.join(os.environ["PARTWISE_DATA"], "mnist", "train-images-idx3-ubyte.gz")) as f:
        pixels = np.frombuffer(f.read(), np.uint8, offset=16).reshape(-1, 784)
    x = pixels.astype(float)
    with tempfile.TemporaryDirectory() as directory:
        program = os.path.join(directory, "minibatch")
        subprocess.run(["go", "build", "-o", program, "./bench/minibatch"], check=True)
        np.save(os.path.join(directory, "x.npy"), pixels)
        for cost in args.costs.split(","):
            for rank in map(int, args.ranks.split(",")):
                rows = []
                for seed in range(args.first, args.first + args.repeats):
                    u = 1 - np.random.default_rng(seed).random((784, rank))
                    np.save(os.path.join(directory, "u.npy"), u)
                    (iterations, wall, cpu, full), = ours(program, directory, cost, "-full")
                    print(f"{cost}, rank {rank}, start {seed}: full objective {full:.6g} after {iterations:.0f} iterations, {wall:.1f} s, {cpu:.1f} s of a processor", flush=True)
                    other = scikit(x, u, cost, full, args.epochs)
                    lines = ours(program, directory, cost, "-target", str(1.01 * full))
                    for epoch, wall, cpu, objective in lines:
                        print(f"  partwise: epoch {epoch:.0f}, {wall:.1f} s, {cpu:.1f} s of a processor, {100 * (objective / full - 1):+.2f} %", flush=True)
                    rows.append((*other, *lines[-1][:3]))
                median = [statistics.median(column) for column in zip(*rows)]
                print(f"{cost}, rank {rank}, medians: scikit-learn {median[0]:.0f} epochs, {median[1]:.1f} s, {median[2]:.1f} s of a processor; "
                      f"partwise {median[3]:.0f}, {median[4]:.1f}, {median[5]:.1f}; share of the time "
                      f"{statistics.median(r[4] / r[1] for r in rows):.3f}, of a processor's {statistics.median(r[5] / r[2] for r in rows):.3f}", flush=True)


main()
