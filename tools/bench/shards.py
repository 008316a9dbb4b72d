"""Measures a pass of NMF over shards of made-up vectors, on one core: shards.py PARTWISE FOLDER ROWS SHARDS [other].

It prints CPU seconds of a pass and a row, the largest memory of a worker and the bytes of its sums. With "other" it also
measures one epoch of scikit-learn's MiniBatchNMF, with the relative error of both bases on the same rows. It removes the shards.
"""

import multiprocessing
import os
import shutil
import sys
import time

import numpy as np

COLUMNS, RANK, BLOCK = 1280, 20, 500


def rows(start, stop):
    """Return the rows of some numbers: 20 parts with exponential weights, and noise. They do not depend on the shards."""
    parts = np.random.default_rng(0).exponential(size=(RANK, COLUMNS)).astype(np.float32)
    for at in range(start, stop, BLOCK):
        random = np.random.default_rng([1, at])
        weights = random.exponential(size=(BLOCK, RANK)).astype(np.float32)
        yield weights @ parts + random.random((BLOCK, COLUMNS), np.float32)


def measured(*command):
    """Run a command on one core and return its CPU seconds and memory in MB."""
    env = {**os.environ, "GOMAXPROCS": "1"}
    quiet = [(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)]
    child = os.posix_spawn(command[0], command, env, file_actions=quiet)
    _, status, usage = os.wait4(child, 0)
    if status:
        raise SystemExit(f"{' '.join(command)} failed")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def main(program, folder, n, shards):
    data, model, sums = (os.path.join(folder, name) for name in ("shards", "model.npz", "sums"))
    os.makedirs(data)
    paths = [os.path.join(data, f"rows-{i:05d}-of-{shards:05d}.npz") for i in range(shards)]
    edges = [n // BLOCK * i // shards * BLOCK for i in range(shards + 1)]
    for i, path in enumerate(paths):  # in another process: a command starts with the memory of this one as its largest
        writer = multiprocessing.Process(target=lambda: np.savez(path, fea=np.vstack(list(rows(edges[i], edges[i + 1])))))
        writer.start()
        writer.join()
    try:
        start, _ = measured(program, "fit", data, "--rank", str(RANK), "--passes", "0", "--out", model)
        used = [measured(program, "pass", model, path, "--out", sums) for path in paths]
        size = max(entry.stat().st_size for entry in os.scandir(sums))
        merge, _ = measured(program, "merge", model, sums, "--out", model + ".next.npz")
        cpu, memory = sum(u[0] for u in used), max(u[1] for u in used)
        print(f"|{n}|{shards}|{start:.1f}|{cpu:.1f}|{1e6 * cpu / n:.1f}|{memory:.0f}|{size / 1e6:.2f}|{merge:.2f}|", flush=True)
        if sys.argv[5:] == ["other"]:
            compare(paths, np.load(model + ".next.npz"), start + cpu + merge)
    finally:
        for path in (data, sums):
            shutil.rmtree(path, ignore_errors=True)
        for path in (model, model + ".next.npz"):
            if os.path.exists(path):
                os.remove(path)


def compare(paths, model, cpu):
    from sklearn.decomposition import MiniBatchNMF, non_negative_factorization
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1):
        nmf = MiniBatchNMF(RANK, batch_size=1024, random_state=0, tol=0)
        other = 0
        for path in paths:
            x = np.load(path)["fea"]
            begun = time.process_time()
            for at in range(0, len(x), 1024):
                nmf.partial_fit(x[at : at + 1024])
            other += time.process_time() - begun
        x = np.vstack(list(rows(0, 20_000)))
        for name, used, basis in (("partwise", cpu, model["passes_vectors"].T), ("scikit-learn", other, nmf.components_)):
            basis = np.ascontiguousarray(basis, x.dtype)
            w, h, _ = non_negative_factorization(x, H=basis, n_components=RANK, init="custom", update_H=False, tol=1e-4, max_iter=200)
            print(f"|{name}|{used:.1f}|{np.linalg.norm(x - w @ h) / np.linalg.norm(x):.5f}|", flush=True)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
