"""Runs a protocol with NumPy and scikit-learn, in a process for each processor, and prints
the seconds, the seconds of processors and the mean accuracy of each method.

    peer.py ccf-yale|cnmf-orl|scenes13 FILE DRAWS

FILE is a .mat file of faces, or an .npz file of histograms that partwise features wrote. Draws,
ranks, iterations and restarts of k-means are those of docs/experiments. Neither imports nor the
reading of FILE are timed.
"""
import json
import multiprocessing
import os
import resource
import sys
import time

os.environ["OPENBLAS_NUM_THREADS"] = "1"

import numpy as np
import scipy.io
import scipy.linalg
import scipy.sparse
from scipy.optimize import linear_sum_assignment
from sklearn.cluster import KMeans

TINY = 1e-12


def accuracy(truth, found):
    table = np.zeros((truth.max() + 1, found.max() + 1))
    np.add.at(table, (truth, found), 1)
    return table[linear_sum_assignment(-table)].sum() / len(truth)


def unit(v):
    return v / np.maximum(np.linalg.norm(v, axis=1, keepdims=True), TINY)


def kmeans(v, k, cosine):
    return KMeans(k, init="random", n_init=20).fit_predict(unit(v) if cosine else v)


def graph(x, p=5):
    """Binary weights of samples of which either is among the other's p nearest."""
    square = (x * x).sum(1)
    distance = square[:, None] - 2 * x @ x.T + square
    np.fill_diagonal(distance, np.inf)
    near = np.zeros(distance.shape)
    np.put_along_axis(near, np.argpartition(distance, p, axis=1)[:, :p], 1, axis=1)
    return np.maximum(near, near.T)


def with_labels(s, known):
    """Joins labelled samples of one class and parts those of different classes."""
    at = np.flatnonzero(known >= 0)
    s = s.copy()
    s[np.ix_(at, at)] = known[at][:, None] == known[at]
    np.fill_diagonal(s, 0)
    return s


def ties(known):
    """A: a column for each class that is labelled, and one for each other sample."""
    group = known.copy()
    free = known < 0
    group[free] = known.max() + 1 + np.arange(free.sum())
    return np.eye(group.max() + 1)[group]


def start(rng, *shapes):
    return [1 - rng.random(shape) for shape in shapes]


def nmf(x, k, rng, iterations=200, weight=None):
    (n, m), w = x.shape, 1 if weight is None else weight[:, None]
    u, v = start(rng, (m, k), (n, k))
    for _ in range(iterations):
        wv = w * v
        u *= (x.T @ wv) / np.maximum(u @ (v.T @ wv), TINY)
        v *= (x @ u) / np.maximum(v @ (u.T @ u), TINY)
    return v * np.linalg.norm(u, axis=0)


def nmf_ncw(x, k, rng):
    return nmf(x, k, rng, weight=1 / (x @ x.sum(0)))


def gnmf(x, k, rng, s, penalty=100, iterations=200):
    n, m = x.shape
    u, v = start(rng, (m, k), (n, k))
    s = scipy.sparse.csr_matrix(s)
    degree = np.asarray(s.sum(1))
    for _ in range(iterations):
        u *= (x.T @ v) / np.maximum(u @ (v.T @ v), TINY)
        v *= (x @ u + penalty * (s @ v)) / np.maximum(v @ (u.T @ u) + penalty * degree * v, TINY)
    return v * np.linalg.norm(u, axis=0)


def cf(x, k, rng, iterations):
    n = len(x)
    kernel = x @ x.T
    w, v = start(rng, (n, k), (n, k))
    for _ in range(iterations):
        w *= (kernel @ v) / np.maximum(kernel @ w @ (v.T @ v), TINY)
        kw = kernel @ w
        v *= kw / np.maximum(v @ (w.T @ kw), TINY)
    return v * np.sqrt((w * (kernel @ w)).sum(0))


def ccf(x, k, rng, known, iterations):
    kernel, a = x @ x.T, ties(known)
    v = nmf(x, k, rng)
    size = a.sum(0)[:, None]
    z = a.T @ v / size + 0.2 * v.mean(0)
    w = v / np.maximum(v.sum(0), TINY)
    w += 0.2 * w.mean(0)
    ka = kernel @ a
    for _ in range(iterations):
        w *= (ka @ z) / np.maximum(kernel @ w @ (z.T @ (size * z)), TINY)
        kw = kernel @ w
        z *= (a.T @ kw) / np.maximum(size * (z @ (w.T @ kw)), TINY)
    return a @ z * np.sqrt((w * (kernel @ w)).sum(0))


def cnmf(x, k, rng, known, iterations=200):
    a = ties(known)
    u, z = start(rng, (x.shape[1], k), (a.shape[1], k))
    size, xa = a.sum(0)[:, None], x.T @ a
    for _ in range(iterations):
        u *= (xa @ z) / np.maximum(u @ (z.T @ (size * z)), TINY)
        z *= (xa.T @ u) / np.maximum(size * (z @ (u.T @ u)), TINY)
    return a @ z * np.linalg.norm(u, axis=0)


def cnmf_kl(x, k, rng, known, iterations=200):
    a = ties(known)
    u, z = start(rng, (x.shape[1], k), (a.shape[1], k))
    size = a.sum(0)[:, None]
    xa = (a.T @ x) / size  # the ratio is that of the class means
    for _ in range(iterations):
        ratio = size * xa / np.maximum(z @ u.T, TINY)
        u *= (ratio.T @ z) / np.maximum((size * z).sum(0), TINY)
        ratio = xa / np.maximum(z @ u.T, TINY)
        z *= (ratio @ u) / np.maximum(u.sum(0), TINY)
    return a @ z * u.sum(0)


def ntf(x, k, rng, iterations=200):
    n, side = len(x), int(np.sqrt(x.shape[1]))
    images = x.reshape(n, side, side)
    a, b, v = start(rng, (side, k), (side, k), (n, k))
    for _ in range(iterations):
        a *= np.einsum("ihk,ik->hk", images @ b, v, optimize=True) / np.maximum(a @ ((b.T @ b) * (v.T @ v)), TINY)
        b *= np.einsum("iwk,ik->wk", images.transpose(0, 2, 1) @ a, v, optimize=True) / np.maximum(b @ ((a.T @ a) * (v.T @ v)), TINY)
        v *= np.einsum("ihk,hk->ik", images @ b, a, optimize=True) / np.maximum(v @ ((a.T @ a) * (b.T @ b)), TINY)
    return v


def draw_faces(task):
    protocol, k, seed = task
    rng = np.random.default_rng([k, seed])
    chosen = rng.permutation(CLASSES.max() + 1)[:k]
    rows = np.flatnonzero(np.isin(CLASSES, chosen))
    x, truth = DATA[rows], np.searchsorted(np.sort(chosen), CLASSES[rows])
    known = np.full(len(rows), -1)
    for c in range(k):
        members = np.flatnonzero(truth == c)
        count = round(0.3 * len(members)) if protocol == "ccf-yale" else max(2, round(0.1 * len(members)))
        known[rng.permutation(members)[:count]] = c
    s = graph(x)
    semi = with_labels(s, known)
    if protocol == "ccf-yale":
        found = {"kmeans": x, "nmf": nmf(x, k + 1, rng), "cf": cf(x, k + 1, rng, 1000), "semi-gnmf": gnmf(x, k + 1, rng, semi),
                 "ccf": ccf(x, k + 1, rng, known, 1000)}
    else:
        found = {"nmf-ncw": nmf_ncw(x, k, rng), "ntf": ntf(x, k, rng), "gnmf": gnmf(x, k, rng, s), "semi-gnmf": gnmf(x, k, rng, semi),
                 "cf": cf(x, k, rng, 200), "cnmf": cnmf(x, k, rng, known), "cnmf-kl": cnmf_kl(x, k, rng, known)}
    return {name: accuracy(truth, kmeans(v, k, protocol == "ccf-yale")) for name, v in found.items()}


RANKS = [5, 8, 12, 15, 18, 21, 26, 31, 35, 40]


def nearest(train, classes, test, truth, neighbours=10):
    distance = (train * train).sum(1) - 2 * test @ train.T
    near = classes[np.argpartition(distance, neighbours, axis=1)[:, :neighbours]]
    votes = np.zeros((len(test), classes.max() + 1))
    np.add.at(votes, (np.arange(len(test))[:, None], near), 1)
    return (votes.argmax(1) == truth).mean()


def scatter(y, pairs):
    """Yᵀ·L·Y of the graph of the pairs."""
    n = len(y)
    s = scipy.sparse.coo_matrix((np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), (n, n)).tocsr()
    s = ((s + s.T) > 0).astype(float)
    return y.T @ (np.asarray(s.sum(1)) * y - s @ y)


def directions(across, inside, k):
    d = len(across)
    inside = inside + 1e-10 * np.trace(inside) / d * np.eye(d)
    k = min(k, d)
    return scipy.linalg.eigh(across, inside, subset_by_index=[d - k, d - 1])[1][:, ::-1]


def draw_scenes(task):
    _, _, seed = task
    rng = np.random.default_rng(seed)
    train, test = [], []
    for c in range(CLASSES.max() + 1):
        members = rng.permutation(np.flatnonzero(CLASSES == c))
        train.append(members[:100])
        test.append(members[100:200])
    train, test = np.concatenate(train), np.concatenate(test)
    x, t, classes, truth = DATA[train], DATA[test], CLASSES[train], CLASSES[test]
    n, sizes = len(x), np.bincount(classes)
    mean = x.mean(0)
    # One decomposition, that of PCA, for all three.
    u, sigma, vt = scipy.linalg.svd(x - mean, full_matrices=False, overwrite_a=True)
    share = np.cumsum(sigma**2) / (sigma**2).sum()
    d = min(np.searchsorted(share, 0.9) + 1, n - len(sizes))
    y, z = u[:, :d] * sigma[:d], (t - mean) @ vt[:d].T
    means = np.stack([y[classes == c].mean(0) for c in range(len(sizes))])
    between = (means * sizes[:, None]).T @ means
    within = y - means[classes]
    square = (x * x).sum(1)
    distance = square[:, None] - 2 * x @ x.T + square
    np.fill_diagonal(distance, np.inf)
    inside, across = [], []
    for c in range(len(sizes)):
        own, others = np.flatnonzero(classes == c), np.flatnonzero(classes != c)
        near = np.argpartition(distance[np.ix_(own, own)], 5, axis=1)[:, :5]
        inside.append(np.stack([np.repeat(own, 5), own[near].ravel()], 1))
        border = distance[np.ix_(own, others)]
        pairs = np.argpartition(border, 40 * len(own), axis=None)[: 40 * len(own)]
        across.append(np.stack([own[pairs // len(others)], others[pairs % len(others)]], 1))
    found = {
        "pca": np.eye(d)[:, : max(RANKS)],
        "lda": directions(between, within.T @ within, len(sizes) - 1),
        "mfa": directions(scatter(y, np.concatenate(across)), scatter(y, np.concatenate(inside)), max(RANKS)),
    }
    out = {"original": nearest(x, classes, t, truth)}
    for name, p in found.items():
        a, b = y @ p, z @ p
        out[name] = max(nearest(a[:, :k], classes, b[:, :k], truth) for k in RANKS)
    return out


def read(file):
    if file.endswith(".mat"):
        d = scipy.io.loadmat(file)
        return unit(d["fea"].astype(float)), np.unique(d["gnd"].ravel(), return_inverse=True)[1]
    d = np.load(file)
    x = d["fea"] if "fea" in d else scipy.sparse.csr_matrix((d["data"], d["indices"], d["indptr"]), d["shape"]).toarray()
    return x.astype(float), np.unique(d["gnd"].ravel(), return_inverse=True)[1]


if __name__ == "__main__":
    protocol, file, draws = sys.argv[1], sys.argv[2], int(sys.argv[3])
    DATA, CLASSES = read(file)
    tasks = [(protocol, k, seed) for k in ([0] if protocol == "scenes13" else range(10, 1, -1)) for seed in range(draws)]
    begin, cpu = time.perf_counter(), time.process_time()
    with multiprocessing.get_context("fork").Pool() as pool:
        found = pool.map(draw_scenes if protocol == "scenes13" else draw_faces, tasks, chunksize=1)
        pool.close()
        pool.join()
    seconds = time.perf_counter() - begin
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(json.dumps({"seconds": seconds, "processor": time.process_time() - cpu + children.ru_utime + children.ru_stime,
                      "accuracy": {name: float(np.mean([f[name] for f in found])) for name in found[0]}}))
