"""Measures a pass of NMF over shards of made-up vectors, on one core: shards.py PARTWISE FOLDER ROWS SHARDS [other].

It prints CPU seconds of a pass and a row, the largest memory of a worker and the bytes of its sums. With "other" it also
measures scikit-learn (one epoch) and k-means of Spark (10 iterations, rows cached on disk) beside partwise, where they are
installed. The last number is the relative error of the basis or centres on 20,000 of the rows. It removes the shards.
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
    data, model, sums, groups = (os.path.join(folder, name) for name in ("shards", "model.npz", "sums", "groups.npz"))
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
            passes = ("--cluster", "distance=euclidean", "--passes", "16")  # k-means|| starts in 6
            clustering, memory = measured(program, "cluster", data, "-k", str(RANK), *passes, "--out", groups)
            compare(paths, np.load(model + ".next.npz")["passes_vectors"].T, start + cpu + merge, np.load(groups)["group_centres"], clustering, memory)
    finally:
        for path in (data, sums):
            shutil.rmtree(path, ignore_errors=True)
        for path in (model, model + ".next.npz", groups):
            if os.path.exists(path):
                os.remove(path)


def compare(paths, basis, cpu, centres, clustering, memory):
    from sklearn.cluster import MiniBatchKMeans
    from sklearn.decomposition import MiniBatchNMF, non_negative_factorization
    from threadpoolctl import threadpool_limits

    sample = np.vstack(list(rows(0, 20_000)))

    def show(name, used, fitted):
        print(f"|{name}|{used:.1f}|{np.linalg.norm(sample - fitted) / np.linalg.norm(sample):.5f}|", flush=True)

    def product(h):
        h = np.ascontiguousarray(h, sample.dtype)
        w, h, _ = non_negative_factorization(sample, H=h, n_components=RANK, init="custom", update_H=False, tol=1e-4, max_iter=200)
        return w @ h

    def nearest(c):
        c = np.asarray(c, sample.dtype)
        return c[np.argmin((c**2).sum(1) - 2 * sample @ c.T, axis=1)]

    with threadpool_limits(1):
        nmf = MiniBatchNMF(RANK, batch_size=1024, random_state=0, tol=0)
        kmeans = MiniBatchKMeans(RANK, batch_size=1024, random_state=0, n_init=3)
        used = {nmf: 0, kmeans: 0}
        for path in paths:
            x = np.load(path)["fea"]
            for at in range(0, len(x), 1024):
                for other in used:
                    begun = time.process_time()
                    other.partial_fit(x[at : at + 1024])
                    used[other] += time.process_time() - begun
            del x
        show("nmf, partwise", cpu, product(basis))
        show("nmf, scikit-learn", used[nmf], product(nmf.components_))
        show(f"kmeans, partwise ({memory:.0f} MB)", clustering, nearest(centres))
        show("kmeans, scikit-learn", used[kmeans], nearest(kmeans.cluster_centers_))
        try:
            show("kmeans, Spark", *spark(paths, nearest))
        except ImportError:
            print("Spark is not installed")


def spark(paths, nearest):
    """Return the CPU seconds of k-means in Spark, and the nearest centres. Reading the rows into its cache is not timed."""
    import pyarrow as pa
    import pyarrow.parquet as pq
    from pyspark.ml.clustering import KMeans
    from pyspark.ml.functions import array_to_vector
    from pyspark.sql import SparkSession
    from pyspark.storagelevel import StorageLevel

    settings = {"spark.driver.memory": "3g", "spark.ui.enabled": "false", "spark.local.dir": os.path.dirname(paths[0])}
    session = SparkSession.builder.master("local[1]").config(map=settings).getOrCreate()
    try:
        session.sparkContext.setLogLevel("ERROR")
        for path in paths:
            x = np.load(path)["fea"]
            lists = pa.ListArray.from_arrays(np.arange(0, x.size + 1, COLUMNS, np.int32), x.ravel())
            pq.write_table(pa.table({"row": lists}), path + ".parquet", row_group_size=1000)
        frame = session.read.parquet(*(path + ".parquet" for path in paths)).select(array_to_vector("row").alias("features"))
        frame = frame.persist(StorageLevel.DISK_ONLY)
        frame.count()
        pid = session._jvm.java.lang.ProcessHandle.current().pid()

        def clock():
            with open(f"/proc/{pid}/stat") as f:
                return sum(map(int, f.read().rsplit(")", 1)[1].split()[11:13])) / os.sysconf("SC_CLK_TCK")

        begun = clock()
        model = KMeans(k=RANK, seed=0, maxIter=10, tol=0).fit(frame)
        return clock() - begun, nearest(model.clusterCenters())
    finally:
        session.stop()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
