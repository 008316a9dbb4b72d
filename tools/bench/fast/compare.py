#!/usr/bin/env python3
"""Times the solver fast against scikit-learn's two solvers, and against mu.

    PARTWISE_DATA=folder python3 bench/fast/compare.py [--repeats 3] [--only orl,coil,mnist,news,kl-coil,kl-mnist,kl-news,concept] [--json]

nmf: from the same initial factors, scikit-learn does 200 iterations of its coordinate descent,
and fast goes on until its objective is at most scikit-learn's, or where it comes to another
minimum at most 1 % above; both with all threads. nmf-kl, the rows that begin with kl: the same
with scikit-learn's multiplicative rule for the divergence. cf and ccf: mu does 3000
iterations, and fast goes on until its objective is at most mu's. The two of a pair run one
after the other. Printed are the medians of both programs' seconds, and of what share of
the other's seconds fast takes. Needs Go, NumPy, SciPy and scikit-learn. The folder
holds mat/ORL_32x32.mat, mat/COIL20.mat, mat/20Newsgroups.mat, mat/Yale_32x32.mat and
mnist/t10k-images-idx3-ubyte.gz.
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

for name in ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE"):
    os.environ.pop(name, None)

import numpy as np
import scipy.io
import scipy.sparse
import sklearn
from sklearn.decomposition import non_negative_factorization
from sklearn.decomposition._nmf import _beta_divergence

FOLDER = os.environ.get("PARTWISE_DATA", ".")


def from_mat(name):
    d = scipy.io.loadmat(os.path.join(FOLDER, "mat", name + ".mat"))
    x = d["fea"]
    if scipy.sparse.issparse(x):
        x = scipy.sparse.csr_matrix(x, dtype=float)
        x = x[np.asarray(x.sum(1)).ravel() > 0]
        x.sort_indices()
    else:
        x = np.ascontiguousarray(x, dtype=float)
    return x, d["gnd"].ravel().astype(np.int64)


def mnist():
    with gzip.open(os.path.join(FOLDER, "mnist", "t10k-images-idx3-ubyte.gz")) as f:
        return np.frombuffer(f.read(), np.uint8, offset=16).reshape(-1, 784).astype(float) / 255


def write(directory, **arrays):
    for name in os.listdir(directory):
        if name.endswith(".npy"):
            os.remove(os.path.join(directory, name))
    x = arrays.pop("x")
    if scipy.sparse.issparse(x):
        arrays.update(starts=x.indptr.astype(np.int64), columns=x.indices.astype(np.int64), values=x.data,
                      shape=np.array(x.shape, dtype=np.int64))
    else:
        arrays["x"] = x
    for name, a in arrays.items():
        np.save(os.path.join(directory, name + ".npy"), a)


def ours(program, directory, *args):
    out = subprocess.run([program, "-dir", directory, *map(str, args)], check=True, capture_output=True, text=True).stdout.split()
    return float(out[0]), float(out[1]), int(out[2]), float(out[3])


def error(x, w, h):
    square = (x.data**2).sum() if scipy.sparse.issparse(x) else (x**2).sum()
    return square - 2 * ((x @ h.T) * w).sum() + ((h @ h.T) * (w.T @ w)).sum()


def divergence(x, w, h):
    return _beta_divergence(x, w, h, "kullback-leibler")


# What scikit-learn is asked for, and what it comes to.
THEIRS = {"nmf": (dict(solver="cd"), error), "nmf-kl": (dict(solver="mu", beta_loss="kullback-leibler"), divergence)}


def nmf(program, directory, method, name, x, k, repeats, tell):
    asked, objective = THEIRS[method]
    pairs, within = [], 0
    for seed in range(repeats):
        rng = np.random.default_rng(seed)
        scale = np.sqrt(x.mean() / k)
        w, h = scale * (1 - rng.random((x.shape[0], k))), scale * (1 - rng.random((k, x.shape[1])))
        write(directory, x=x, u=np.ascontiguousarray(h.T), v=w)
        begin, cpu = time.perf_counter(), time.process_time()
        got = non_negative_factorization(x, W=w.copy(), H=h.copy(), n_components=k, init="custom", tol=0, max_iter=200, **asked)
        theirs, cpu = time.perf_counter() - begin, time.process_time() - cpu
        target = objective(x, got[0], got[1])
        fit = ("-method", method, "-iterations", 400)
        fast = ours(program, directory, *fit, "-target", repr(float(target)))
        if other(name, fast[3], target):
            fast = ours(program, directory, *fit, "-target", repr(1.01 * float(target)))
            within += 1
        pairs.append((theirs, cpu, *fast))
    tell(f"{method} {name} k={k}", f"scikit-learn {sklearn.__version__}", pairs, f"{within} of {repeats} starts end in another minimum: time to within 1 %" if within else "")


def concept(program, directory, name, method, x, labels, k, repeats, tell):
    pairs = []
    for seed in range(repeats):
        known = labels.copy()
        known[np.random.default_rng(seed).random(len(labels)) > 0.3] = -1
        write(directory, x=x, labels=known)
        args = ("-method", method, "-rank", k, "-seed", seed)
        mu = ours(program, directory, *args, "-solver", "mu", "-iterations", 3000)
        fast = ours(program, directory, *args, "-target", repr(mu[3]))
        other(name, fast[3], mu[3])
        pairs.append((mu[0], mu[1], *fast))
    tell(f"{method} {name} k={k}", "3000 iterations of `mu`", pairs)


def other(name, objective, target):
    if objective > target:
        print(f"{name}: fast comes to another minimum, {objective / target - 1:.2%} above")
    return objective > target


def row(what, other, pairs, note=""):
    theirs, theirs_cpu, wall, cpu, iterations, _ = zip(*pairs)
    note = f"{statistics.median(iterations):.0f} iterations" + (note and "; " + note)
    print(json.dumps({"problem": what, "beside": other, "theirs": theirs, "ours": wall, "theirs_processor": theirs_cpu, "ours_processor": cpu, "note": note}), flush=True)


def report(what, other, pairs, note=""):
    theirs, theirs_cpu, wall, cpu, iterations, _ = (statistics.median(t) for t in zip(*pairs))
    share, of_cpu = (statistics.median(p[at + 2] / p[at] for p in pairs) for at in (0, 1))
    print(f"{what}: {other} {theirs:.2f} s ({theirs_cpu:.2f} s of a processor), fast {wall:.2f} s ({cpu:.2f} s, "
          f"{iterations:.0f} iterations), 1/{1 / share:.1f} (1/{1 / of_cpu:.1f})", flush=True)


def there(title, load):
    try:
        return load()
    except FileNotFoundError as e:
        print(f"{title} is left out: {e}", file=sys.stderr)


def main():
    args = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    args.add_argument("--repeats", type=int, default=3)
    args.add_argument("--only", default="orl,coil,mnist,news,kl-coil,kl-mnist,kl-news,concept")
    args.add_argument("--native", action="store_true", help="the native build")
    args.add_argument("--json", action="store_true", help="rows for bench/main.go")
    args = args.parse_args()
    only, tell = args.only.split(","), row if args.json else report
    with tempfile.TemporaryDirectory() as directory:
        program = os.path.join(directory, "program")
        subprocess.run(["go", "build", *(["-tags", "native"] if args.native else []), "-o", program, "."], check=True,
                       cwd=os.path.dirname(os.path.abspath(__file__)), env={**os.environ, "CGO_ENABLED": "1" if args.native else "0"})
        sets = {"orl": ("ORL", lambda: from_mat("ORL_32x32")[0] / 255, 40), "coil": ("COIL-20", lambda: from_mat("COIL20")[0], 20),
                "mnist": ("MNIST 10k", mnist, 10), "news": ("20 Newsgroups", lambda: from_mat("20Newsgroups")[0], 20)}
        for name, (title, load, k) in sets.items():
            if name in only and (x := there(title, load)) is not None:
                nmf(program, directory, "nmf", title, x, k, args.repeats, tell)
        for name in ("coil", "mnist", "news"):
            title, load, _ = sets[name]
            if "kl-" + name in only and (x := there(title, load)) is not None:
                if name == "news":  # all of them would take scikit-learn minutes a run
                    title, x = title + ", a ninth of the texts", x[::9]
                    x = x[:, np.asarray(x.sum(0)).ravel() > 0]
                    x.sort_indices()
                nmf(program, directory, "nmf-kl", title, x, 20, args.repeats, tell)
        if "concept" in only:
            for file, title, k in (("Yale_32x32", "Yale", 15), ("ORL_32x32", "ORL", 40), ("COIL20", "COIL-20", 20)):
                if (found := there(title, lambda: from_mat(file))) is None:
                    continue
                x, labels = found
                x /= np.linalg.norm(x, axis=1, keepdims=True)
                for method in ("cf", "ccf"):
                    concept(program, directory, title, method, x, labels, k, args.repeats, tell)


if __name__ == "__main__":
    main()
