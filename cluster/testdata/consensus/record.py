"""Writes consensus.json: clusterings of random points, and their stability by SciPy (python record.py)."""
import json
import os

import numpy as np
import scipy
from scipy.cluster.hierarchy import average, cophenet, fcluster
from scipy.spatial.distance import squareform

# Cases without ties that decide the tree: average linkage is unique only then.
cases = []
for seed, (n, runs, k, noise) in enumerate([(40, 25, 4, 0.1), (30, 50, 5, 0.6), (12, 1, 3, 0)]):
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, k, n)
    labels = np.where(rng.random((runs, n)) < noise, rng.integers(0, k, (runs, n)), truth)
    consensus = (labels[:, :, None] == labels[:, None, :]).mean(0)
    distances = squareform(1 - consensus, checks=False)
    tree = average(distances)
    cut = fcluster(tree, k, "maxclust")
    groups = {}
    for c in cut:
        members = np.flatnonzero(cut == c)
        pairs = consensus[np.ix_(members, members)][np.triu_indices(len(members), 1)]
        groups[int(c)] = float(pairs.mean()) if len(pairs) else 1.0
    cases.append({
        "k": k, "runs": labels.tolist(), "cut": cut.tolist(), "groups": groups,
        "cophenetic": float(cophenet(tree, distances)[0]), "dispersion": float((4 * (consensus - 0.5) ** 2).mean()),
    })
with open(os.path.join(os.path.dirname(__file__), "consensus.json"), "w") as out:
    json.dump({"scipy": scipy.__version__, "cases": cases}, out)
    out.write("\n")
