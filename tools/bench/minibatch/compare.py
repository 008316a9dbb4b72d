#!/usr/bin/env python3
"""Times factor.MiniBatch against scikit-learn's MiniBatchNMF on the training digits of MNIST.

    PARTWISE_DATA=folder python3 bench/minibatch/compare.py [--only frobenius-10,kl-20] [--repeats 3] [--epochs 10] [--json]

Of each start all samples in memory are factorised first, until the objective stands still:
the full objective. Then scikit-learn goes through the samples in blocks of 1024, forgetting
as it does by default, and after some epochs its objective is looked at, after 10 more steps
of the coefficients; neither is counted. It ends within 1 % of the full objective, or after
the last of the epochs. factor.MiniBatch reads the same samples from a file in blocks of
1024. Counted is all from opening that file to coefficients of all samples and their
objective, of a fit of as many epochs as come within 1 % of the full objective, or of ten.
Seconds are by the clock and of a processor, memory is what the process has held at most.
The folder holds mnist/train-images-idx3-ubyte.gz. Needs Go, NumPy and scikit-learn.
"""
import argparse
import gzip
import json
import os
import resource
import statistics
import subprocess
import sys
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
        excess = 100 * (objective / full - 1)
        tell(f"  scikit-learn: epoch {epoch}, {wall:.1f} s, {cpu:.1f} s of a processor, {excess:+.2f} %")
        if objective <= 1.01 * full:
            break
    return epoch, wall, cpu, excess


def ours(program, directory, cost, *flags):
    if cost == "kl":
        flags += ("-kl",)
    out = subprocess.run([program, "-dir", directory, *flags], check=True, capture_output=True, text=True).stdout
    return [[float(word) for word in line.split()] for line in out.splitlines()]


def tell(line):
    print(line, file=sys.stderr, flush=True)


def compare(program, directory, pixels, cost, rank, args):
    x, rows = pixels.astype(float), []
    for seed in range(args.first, args.first + args.repeats):
        u = 1 - np.random.default_rng(seed).random((784, rank))
        np.save(os.path.join(directory, "u.npy"), u)
        (iterations, wall, cpu, full, _), = ours(program, directory, cost, "-full")
        tell(f"{cost}, rank {rank}, start {seed}: full objective {full:.6g} after {iterations:.0f} iterations, {wall:.1f} s, {cpu:.1f} s of a processor")
        other = scikit(x, u, cost, full, args.epochs)
        lines = [(epoch, wall, cpu, 100 * (objective / full - 1), memory)
                 for epoch, wall, cpu, objective, memory in ours(program, directory, cost, "-target", str(1.01 * full))]
        for epoch, wall, cpu, excess, memory in lines:
            tell(f"  partwise: epoch {epoch:.0f}, {wall:.1f} s, {cpu:.1f} s of a processor, {excess:+.2f} %, {memory:.0f} MB")
        rows.append((other, lines[-1]))
    (epochs, theirs, theirs_cpu, theirs_excess), (own_epochs, wall, cpu, excess, memory) = (list(map(list, zip(*side))) for side in zip(*rows))

    def spread(numbers, form):
        least, most = (format(f(numbers), form) for f in (min, max))
        return least if least == most else f"{least} to {most}"

    row = {"problem": f"{'Frobenius' if cost == 'frobenius' else 'divergence'}, rank {rank}", "beside": f"scikit-learn {sklearn.__version__}",
           "theirs": theirs, "ours": wall, "theirs_processor": theirs_cpu, "ours_processor": cpu,
           "note": f"scikit-learn {spread(theirs_excess, '.1f')} % after {spread(epochs, 'd')} epochs, "
                   f"partwise {spread(excess, '.2f')} % after {spread(own_epochs, '.0f')} in {max(memory):.0f} MB"}
    print(json.dumps(row) if args.json else row, flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="frobenius-10,frobenius-20,kl-10,kl-20", help="costs with ranks")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--first", type=int, default=0, help="seed of the first start")
    parser.add_argument("--epochs", type=int, default=10, help="of scikit-learn at most")
    parser.add_argument("--json", action="store_true", help="rows for bench/main.go")
    args = parser.parse_args()
    file = os.path.join(os.environ.get("PARTWISE_DATA", "."), "mnist", "train-images-idx3-ubyte.gz")
    if not os.path.exists(file):
        print(f"all is left out: {file} is not there", file=sys.stderr)
        return
    with gzip.open(file) as f:
        pixels = np.frombuffer(f.read(), np.uint8, offset=16).reshape(-1, 784)
    with tempfile.TemporaryDirectory() as directory:
        program = os.path.join(directory, "program")
        subprocess.run(["go", "build", "-o", program, "."], check=True, cwd=os.path.dirname(os.path.abspath(__file__)), env={**os.environ, "CGO_ENABLED": "0"})
        np.save(os.path.join(directory, "x.npy"), pixels)
        for word in args.only.split(","):
            cost, rank = word.split("-")
            compare(program, directory, pixels, cost, int(rank), args)


if __name__ == "__main__":
    main()
