#!/usr/bin/env python3
"""Compares the speed of this program with others on the same data and initial factors, and prints a table in Markdown.

    PARTWISE_DATA=folder python3 bench/bench.py [--repeats 5] [--doc ../docs/performance.md] [WORD ...]

WORD selects rows that contain it; the default is all rows. The two programs of a row run alternately. With --doc the
results replace the rows of the same names in the document. "make bench" installs the other programs into bench/.venv.
It needs Go.
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
import onnxruntime
import scipy.io
import scipy.sparse
import sklearn
from sklearn.cluster import KMeans
from sklearn.decomposition import NMF, non_negative_factorization
from sklearn.decomposition._nmf import _beta_divergence

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
DATA = os.environ.get("PARTWISE_DATA", ".")
SKLEARN = f"scikit-learn {sklearn.__version__}"


def from_mat(name):
    d = scipy.io.loadmat(os.path.join(DATA, "mat", name + ".mat"))
    x = d["fea"]
    if not scipy.sparse.issparse(x):
        return np.ascontiguousarray(x, dtype=float), d["gnd"].ravel().astype(np.int64)
    x = scipy.sparse.csr_matrix(x, dtype=float)
    return x[np.asarray(x.sum(1)).ravel() > 0], None


def news(every=1):
    x = from_mat("20Newsgroups")[0][::every]
    x = x[:, np.asarray(x.sum(0)).ravel() > 0]
    x.sort_indices()
    return x


def mnist(name):
    with gzip.open(os.path.join(DATA, "mnist", name + "-images-idx3-ubyte.gz")) as f:
        raw = f.read()
    if raw[:2] == b"\x1f\x8b":
        raw = gzip.decompress(raw)
    return np.frombuffer(raw, np.uint8, offset=16).reshape(-1, 784).astype(float) / 255


def orl():
    return from_mat("ORL_32x32")[0] / 255


def coil():
    return from_mat("COIL20")[0]


def write(directory, x, **arrays):
    for name in os.listdir(directory):
        if name.endswith(".npy"):
            os.remove(os.path.join(directory, name))
    if scipy.sparse.issparse(x):
        arrays |= {"starts": x.indptr.astype(np.int64), "columns": x.indices.astype(np.int64), "values": x.data,
                   "shape": np.array(x.shape, dtype=np.int64)}
    elif x is not None:
        arrays["x"] = x
    for name, a in arrays.items():
        np.save(os.path.join(directory, name + ".npy"), a)


def timed(work):
    """Returns the seconds, the CPU seconds, and what work returns."""
    begin, cpu = time.perf_counter(), time.process_time()
    result = work()
    return time.perf_counter() - begin, time.process_time() - cpu, result


class Programs:
    """The programs that are built for the measurements."""

    def __init__(self, directory):
        self.directory, env = directory, {**os.environ, "CGO_ENABLED": "0"}
        self.bench, self.partwise = os.path.join(directory, "bench"), os.path.join(directory, "partwise")
        subprocess.run(["go", "build", "-o", self.bench, "./bench"], check=True, cwd=os.path.join(ROOT, "tools"), env=env)
        subprocess.run(["go", "build", "-o", self.partwise, "./cmd/partwise"], check=True, cwd=ROOT, env=env)

    def solve(self, **problem):
        """Returns the seconds, the CPU seconds, the iterations and the objective."""
        out = subprocess.run([self.bench, json.dumps({"dir": self.directory, **problem})], check=True, capture_output=True, text=True).stdout
        return [float(word) for word in out.split()]

    def run(self, *args):
        """Runs the command and returns its seconds and CPU seconds."""
        begin = time.perf_counter()
        child = subprocess.Popen([self.partwise, *args], stdout=subprocess.DEVNULL)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode:
            raise RuntimeError(f"partwise {' '.join(args)} ended with {child.returncode}")
        return time.perf_counter() - begin, usage.ru_utime + usage.ru_stime


# A case is a generator: for each repeat the seconds and CPU seconds of theirs and of ours, and a note.


def error(x, w, h):
    square = (x.data**2).sum() if scipy.sparse.issparse(x) else (x**2).sum()
    return square - 2 * ((x @ h.T) * w).sum() + ((h @ h.T) * (w.T @ w)).sum()


def divergence(x, w, h):
    return _beta_divergence(x, w, h, "kullback-leibler")


def to_target(programs, target, **problem):
    """Fits by the solver fast to the target, or to within 1 % of it where fast ends in another minimum."""
    got = programs.solve(solver="fast", target=target, **problem)
    if got[3] > target:
        got = programs.solve(solver="fast", target=1.01 * target, **problem)
        return got, "another minimum"
    return got, f"{got[2]:.0f} iterations"


def factors(method, load, k):
    """200 iterations of scikit-learn, and fast to its objective, from the same factors."""
    asked, objective = {"nmf": (dict(solver="cd"), error), "nmf-kl": (dict(solver="mu", beta_loss="kullback-leibler"), divergence)}[method]

    def run(programs, repeats):
        x = load()
        for seed in range(repeats):
            rng, scale = np.random.default_rng(seed), np.sqrt(x.mean() / k)
            w, h = scale * (1 - rng.random((x.shape[0], k))), scale * (1 - rng.random((k, x.shape[1])))
            write(programs.directory, x, u=np.ascontiguousarray(h.T), v=w)
            wall, cpu, got = timed(lambda: non_negative_factorization(
                x, W=w.copy(), H=h.copy(), n_components=k, init="custom", tol=0, max_iter=200, **asked))
            ours, note = to_target(programs, float(objective(x, *got[:2])), method=method, iterations=400)
            yield (wall, cpu), ours, note

    return run


def from_python(programs, repeats):
    """scikit-learn's estimator, and the estimator of python/ to its objective, from the same factors."""
    os.environ["PARTWISE_BINARY"] = programs.partwise
    sys.path.insert(0, os.path.join(ROOT, "python", "src"))
    import partwise

    def children():
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        return usage.ru_utime + usage.ru_stime

    x, k = mnist("t10k"), 10
    for seed in range(repeats):
        rng, scale = np.random.default_rng(seed), np.sqrt(x.mean() / k)
        start = {"W": scale * (1 - rng.random((x.shape[0], k))), "H": scale * (1 - rng.random((k, x.shape[1])))}
        theirs = NMF(k, init="custom", tol=0, max_iter=200)
        wall, cpu, _ = timed(lambda: theirs.fit(x, **{name: a.copy() for name, a in start.items()}))
        target = theirs.reconstruction_err_**2
        reached = partwise.NMF(k, init="custom", max_iter=400, tol=0).fit(x, **start).objective_
        note, target = ("", target) if reached.min() <= target else ("another minimum", 1.01 * target)
        ours = partwise.NMF(k, init="custom", max_iter=int(np.argmax(reached <= target)), tol=0)
        before = children()
        ours_wall, ours_cpu, _ = timed(lambda: ours.fit(x, **start))
        yield (wall, cpu), (ours_wall, ours_cpu + children() - before), note or f"{ours.n_iter_} iterations"


def concept(method, file, k):
    """3,000 iterations of mu, and fast to its objective."""

    def run(programs, repeats):
        x, labels = from_mat(file)
        x /= np.linalg.norm(x, axis=1, keepdims=True)
        for seed in range(repeats):
            known = labels.copy()
            known[np.random.default_rng(seed).random(len(labels)) > 0.3] = -1
            write(programs.directory, x, labels=known)
            mu = programs.solve(method=method, solver="mu", rank=k, seed=seed, iterations=3000, target=-1)
            ours, note = to_target(programs, mu[3], method=method, rank=k, seed=seed, iterations=2000)
            yield mu, ours, note

    return run


def kmeans(load, k):
    def run(programs, repeats):
        x = load()
        write(programs.directory, x)
        for seed in range(repeats):
            wall, cpu, theirs = timed(lambda: KMeans(k, n_init=20, random_state=seed).fit(x))
            ours = programs.solve(clusters=k, seed=seed)
            yield (wall, cpu), ours, f"objective {100 * (ours[3] / theirs.inertia_ - 1):+.2f} %"

    return run


def protocol(name, *flags):
    """A whole experiment, from reading to the page, and what computes in protocols.py."""
    file = os.path.join(DATA, name) if name == "scenes13" else os.path.join(DATA, "mat", {"ccf-yale": "Yale", "cnmf-orl": "ORL"}[name] + "_32x32.mat")

    def run(programs, repeats):
        data = os.path.join(programs.directory, "scenes13.npz") if name == "scenes13" else file
        if name == "scenes13":
            programs.run("features", file, "--pool", "--features", "sift=dense,words=200,grid=4x4", "--force", "--out", data)
        args = ["--set", data] if name == "scenes13" else [os.path.join(ROOT, "docs", "experiments", name + ".yaml")]
        for _ in range(repeats):
            theirs = json.loads(subprocess.run([sys.executable, os.path.join(HERE, "protocols.py"), name, data, "10"],
                                               check=True, capture_output=True, text=True).stdout)
            with tempfile.TemporaryDirectory() as out:
                ours = programs.run("run", *args, *flags, "--repeats", "10", "--name", "x", "--out", out)
                with open(os.path.join(out, "results.jsonl")) as f:
                    scores = [json.loads(line)["scores"] for line in f]
            mean = 100 * statistics.mean(theirs["accuracy"].values())
            note = "" if name == "scenes13" else f"mean accuracy {100 * statistics.mean(s['AC'] for s in scores):.1f} and {mean:.1f} %"
            yield (theirs["seconds"], theirs["processor"]), ours, note

    return run


def network(programs, repeats):
    model, images = os.path.join(ROOT, "features", "lite0", "lite0.onnx"), 20
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    y, x, c = np.mgrid[:224, :224, :3]
    image = (((x // 16 * 37 + y // 16 * 91 + c * 53) % 256).astype(np.float32) - 127) / 128
    write(programs.directory, None, image=image.ravel())
    theirs_image = {"input": np.ascontiguousarray(image.transpose(2, 0, 1)[None])}
    (want,) = session.run(["embedding"], theirs_image)
    for _ in range(repeats):
        wall, cpu, _ = timed(lambda: [session.run(["embedding"], theirs_image) for _ in range(images)])
        ours = programs.solve(model=model, images=images)
        off = np.abs(np.fromfile(os.path.join(programs.directory, "out"), np.float32) - want[0]).max() / want.max()
        yield (wall, cpu), ours, f"largest difference {off:.0e}"


def cluster_mnist(programs, repeats):
    """The command of docs/results.md on all 70,000 digits; scikit-learn factorises and clusters the same."""
    for seed in range(repeats):
        def scikit():
            x = np.concatenate([mnist("train"), mnist("t10k")])
            v = NMF(20, init="random", solver="cd", tol=1e-4, max_iter=200, random_state=seed).fit_transform(x)
            return KMeans(10, n_init=20, random_state=seed).fit(v)

        wall, cpu, _ = timed(scikit)
        with tempfile.TemporaryDirectory() as out:
            ours = programs.run("cluster", "mnist", "--rank", "20", "-k", "10", "--seed", str(seed), "--out", out)
        yield (wall, cpu), ours, "from reading to the page"


SCENES = ["--task", "classify", "--train", "100", "--test", "100", "--neighbours", "10", "--rank", "[5, 8, 12, 15, 18, 21, 26, 31, 35, 40]",
          "--seed", "1", "--method", "original", "--method", "pca", "--method", "lda", "--method", "mfa"]

NUMPY = f"NumPy {np.__version__}, {SKLEARN}"
MU = "3,000 iterations of `mu`"
CASES = [
    ("nmf ORL k=40", SKLEARN, factors("nmf", orl, 40)),
    ("nmf COIL-20 k=20", SKLEARN, factors("nmf", coil, 20)),
    ("nmf MNIST 10k k=10", SKLEARN, factors("nmf", lambda: mnist("t10k"), 10)),
    ("nmf 20 Newsgroups k=20", SKLEARN, factors("nmf", news, 20)),
    ("nmf-kl COIL-20 k=20", SKLEARN, factors("nmf-kl", coil, 20)),
    ("nmf-kl MNIST 10k k=20", SKLEARN, factors("nmf-kl", lambda: mnist("t10k"), 20)),
    ("nmf-kl 20 Newsgroups, a ninth, k=20", SKLEARN, factors("nmf-kl", lambda: news(9), 20)),
    ("partwise.NMF in Python, MNIST 10k k=10", SKLEARN, from_python),
    ("cf Yale k=15", MU, concept("cf", "Yale_32x32", 15)),
    ("ccf ORL k=40", MU, concept("ccf", "ORL_32x32", 40)),
    ("k-means, codes of COIL-20 1440×10, 20 clusters", SKLEARN,
     kmeans(lambda: NMF(10, init="nndsvda", max_iter=200, tol=0).fit_transform(coil()), 20)),
    ("k-means, COIL-20 1440×1024, 20 clusters", SKLEARN, kmeans(coil, 20)),
    ("k-means, MNIST 60000×784, 10 clusters", SKLEARN, kmeans(lambda: mnist("train"), 10)),
    ("experiment ccf-yale, 10 draws", NUMPY, protocol("ccf-yale", "--set", "yale,from=mat")),
    ("experiment cnmf-orl, 10 draws", NUMPY, protocol("cnmf-orl", "--set", "orl,from=mat")),
    ("recognition of scenes13, 10 draws", NUMPY, protocol("scenes13", *SCENES)),
    ("cluster MNIST, 70000×784, rank 20", SKLEARN, cluster_mnist),
    ("network EfficientNet-Lite0, 20 images, one core", f"ONNX Runtime {onnxruntime.__version__}", network),
]

HEADER = """| task | compared with | other, s | partwise, s | speed-up | other, CPU s | partwise, CPU s | speed-up | note |
|---|---|---|---|---|---|---|---|---|
"""


def table_row(name, beside, runs, note):
    cells = [name, beside]
    for at in (0, 1):
        theirs, ours = ([run[side][at] for run in runs] for side in (0, 1))
        cells += [f"{statistics.median(theirs):.2g}", f"{statistics.median(ours):.2g}", f"{statistics.median(t / o for t, o in zip(theirs, ours)):.2g}×"]
    return "| " + " | ".join([*cells, note]) + " |\n"


def insert(path, name, line):
    """Replaces the row of that name in the document."""
    with open(path) as f:
        lines = f.readlines()
    lines = [line if old.startswith(f"| {name} |") else old for old in lines]
    with open(path, "w") as f:
        f.writelines(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--doc", help="document whose rows are replaced")
    parser.add_argument("words", nargs="*")
    args = parser.parse_args()
    print(HEADER, end="", flush=True)
    with tempfile.TemporaryDirectory() as directory:
        programs = Programs(directory)
        for name, beside, case in CASES:
            if args.words and not any(word in name for word in args.words):
                continue
            try:
                runs = list(case(programs, args.repeats))
            except FileNotFoundError as e:
                print(f"{name} is left out: {e}", file=sys.stderr)
                continue
            others = sum("another minimum" in run[2] for run in runs)
            note = f"another minimum in {others} of {len(runs)} runs: time to within 1 %" if others else runs[-1][2]
            line = table_row(name, beside, runs, note)
            print(line, end="", flush=True)
            if args.doc:
                insert(args.doc, name, line)


if __name__ == "__main__":
    main()
