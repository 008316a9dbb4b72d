#!/usr/bin/env python3
"""Compares the groups of this program with those of others on network features, and prints tables in Markdown.

    groups.py groups|labels|links PROGRAM [--draws 10] FILE.npz ...

PROGRAM is the partwise command, and FILE.npz is a file of partwise features. A cell is a percentage, mean of the draws.
Bold is the best of a row, and each cell less than two standard errors of the paired differences below it. It needs
igraph, leidenalg, finch-clust and scikit-learn.
"""
import argparse
import csv
import os
import subprocess
import tempfile

import igraph
import leidenalg
import numpy as np
import scipy.sparse
from finch import FINCH
from protocols import accuracy, unit
from sklearn.cluster import HDBSCAN, KMeans, SpectralClustering
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import normalized_mutual_info_score
from sklearn.neighbors import kneighbors_graph
from sklearn.semi_supervised import LabelSpreading


class Set:
    """Samples x of unit length, their classes, and the graph of their 10 nearest neighbours with cosines as weights."""

    def __init__(self, file):
        d = np.load(file)
        self.name, self.file = os.path.splitext(os.path.basename(file))[0], file
        self.x, self.names = unit(d["fea"]), d["names"]
        self.truth = np.unique(d["gnd"].ravel(), return_inverse=True)[1]
        self.n, self.k = len(self.truth), self.truth.max() + 1
        near = kneighbors_graph(self.x, 10)
        self.adjacency = near.maximum(near.T).tocsr()
        self.weights = self.adjacency.multiply(self.x @ self.x.T).tocsr()

    def propagated(self, share=0.9, steps=40):
        """Averages x over the graph by personalised PageRank (Gasteiger et al. 2019)."""
        scale = scipy.sparse.diags(np.asarray(self.weights.sum(1)).ravel() ** -0.5)
        s, z = scale @ self.weights @ scale, self.x
        for _ in range(steps):
            z = share * (s @ z) + (1 - share) * self.x
        return unit(z)

    def partwise(self, program, k, seed, method="propagated-kmeans", column="group", **tables):
        """Returns a column of assignments.csv. Tables are the rows of the files of labels or links."""
        with tempfile.TemporaryDirectory() as directory:
            out = os.path.join(directory, "out")
            command = [program, "cluster", self.file, "-k", str(k), "--seed", str(seed), "--method", method, "--out", out]
            for name, rows in tables.items():
                command += ["--" + name, os.path.join(directory, name + ".csv")]
                with open(command[-1], "w", newline="") as f:
                    csv.writer(f).writerows(rows)
            subprocess.run(command, check=True, capture_output=True)
            with open(os.path.join(out, "assignments.csv"), newline="") as f:
                cells = {row["file"]: row[column] for row in csv.DictReader(f)}
        return np.unique([cells[name] for name in self.names], return_inverse=True)

    def score(self, found):
        return 100 * accuracy(self.truth[found >= 0], found[found >= 0])


def row(title, results):
    """Prints the means of results, which holds the values of the draws of each method."""
    best, line = max(results, key=lambda method: np.mean(results[method])), f"|{title}|"
    for values in results.values():
        below = np.subtract(results[best], values)
        bold = "**" if below.mean() <= 2 * below.std(ddof=1) / len(below) ** 0.5 else ""
        line += f"{bold}{np.mean(values):.1f}{bold}|"
    print(line, flush=True)


def header(*cells):
    print("\n||" + "|".join(cells) + "|\n|" + "---|" * (1 + len(cells)))


def groups(s, args):
    """AC and NMI for the number of classes, then AC and the number of groups of methods that choose it."""
    rows, cols = scipy.sparse.triu(s.adjacency).nonzero()
    graph, cosines = igraph.Graph(s.n, np.column_stack([rows, cols]).tolist()), np.asarray(s.weights[rows, cols]).ravel()
    levels, sizes, finch = FINCH(s.x, req_clust=s.k, distance="cosine", verbose=False)
    dense = HDBSCAN(copy=True).fit_predict(s.x)
    known, auto = [], []
    for seed in range(args.draws):
        known.append({
            "partwise": s.partwise(args.program, s.k, seed)[1],
            "k-means": KMeans(s.k, n_init=20, random_state=seed).fit_predict(s.x),
            "spectral": SpectralClustering(s.k, affinity="precomputed", random_state=seed).fit_predict(s.adjacency),
            "FINCH": finch,
        })
        auto.append({
            "partwise": s.partwise(args.program, "auto", seed)[1],
            "Leiden": np.array(leidenalg.find_partition(graph, leidenalg.ModularityVertexPartition, weights=cosines, n_iterations=-1, seed=seed).membership),
            "FINCH, best level": levels[:, np.abs(np.subtract(sizes, s.k)).argmin()],
            "HDBSCAN": dense,
        })
    nmi = lambda found: 100 * normalized_mutual_info_score(s.truth, found, average_method="max")
    header(*known[0])
    row(f"{s.name}, AC", {m: [s.score(found[m]) for found in known] for m in known[0]})
    row(f"{s.name}, NMI", {m: [nmi(found[m]) for found in known] for m in known[0]})
    header(*auto[0])
    row(f"{s.name}, auto", {m: [s.score(found[m]) * (found[m] >= 0).mean() for found in auto] for m in auto[0]})
    counts = {m: sorted({int(found[m].max()) + 1 for found in auto}) for m in auto[0]}
    print(f"{s.name}: {s.k} classes; groups {counts}; HDBSCAN covers {100 * (dense >= 0).mean():.1f} % with AC {s.score(dense):.1f}", flush=True)


def labels(s, args):
    """Accuracy on the unlabelled samples with 1 to 10 labels per class, at most half of the smallest class."""
    for count in (1, 2, 5, 10):
        if 2 * count > np.bincount(s.truth).min():
            continue
        results = {}
        for draw in range(args.draws):
            rng = np.random.default_rng([count, draw])
            given = np.concatenate([rng.permutation(np.flatnonzero(s.truth == c))[:count] for c in range(s.k)])
            free, told = np.setdiff1d(np.arange(s.n), given), np.full(s.n, -1)
            told[given] = s.truth[given]
            file, found = [("file", "class"), *((s.names[i], s.truth[i]) for i in given)], {}
            for method in ("propagated-kmeans", "guided-kmeans"):
                names, at = s.partwise(args.program, s.k, draw, method, "name", labels=file)
                found[method] = names.astype(int)[at]
            for kind, x in ("", s.x), (", propagated", s.propagated()):
                found["logistic regression" + kind] = LogisticRegression(C=100, max_iter=1000).fit(x[given], told[given]).predict(x)
                for alpha in (0.2, 0.9):
                    spread = LabelSpreading(kernel="knn", n_neighbors=10, alpha=alpha, max_iter=200).fit(x, told)
                    found[f"label spreading {alpha}{kind}"] = spread.transduction_
            for method, classes in found.items():
                results.setdefault(method, []).append(100 * (classes == s.truth)[free].mean())
        if count == 1:
            header(*results)
        row(f"{s.name}, {count}", results)


def links(s, args):
    """AC of all samples with random links, and with random links of which half are must-links."""
    plain = [s.score(s.partwise(args.program, s.k, draw)[1]) for draw in range(args.draws)]
    header("no links", "links")
    for kind in ("random", "half must"):
        for count in (20, 50, 100, 400):
            found = []
            for draw in range(args.draws):
                rng, pairs = np.random.default_rng([count, draw]), {}
                while len(pairs) < count:
                    i, j = sorted(rng.choice(s.n, 2, replace=False).tolist())
                    if kind == "random" or (s.truth[i] == s.truth[j]) == (len(pairs) % 2 == 0):
                        pairs[i, j] = "must" if s.truth[i] == s.truth[j] else "cannot"
                file = [(s.names[i], s.names[j], link) for (i, j), link in pairs.items()]
                found.append(s.score(s.partwise(args.program, s.k, draw, links=file)[1]))
            row(f"{s.name}, {count} {kind}", {"no links": plain, "links": found})


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("part", choices=["groups", "labels", "links"])
    parser.add_argument("program")
    parser.add_argument("files", nargs="+")
    parser.add_argument("--draws", type=int, default=10)
    args = parser.parse_args()
    for file in args.files:
        {"groups": groups, "labels": labels, "links": links}[args.part](Set(file), args)


if __name__ == "__main__":
    main()
