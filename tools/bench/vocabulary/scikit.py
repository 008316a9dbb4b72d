"""Learns words with scikit-learn and prints the seconds that it took.

Reads rows of DIM bytes from FILE, learns WORDS words with SEED by METHOD,
lloyd or mini-batch, and writes them to OUT as the array words of an .npz file.
"""

import sys
import time
import warnings

import numpy
import sklearn
from sklearn.cluster import KMeans, MiniBatchKMeans

warnings.filterwarnings("ignore")
file, dim, words, seed, method, out = sys.argv[1:]
x = numpy.fromfile(file, numpy.uint8).reshape(-1, int(dim)).astype(numpy.float32)
kind = {"lloyd": KMeans, "mini-batch": MiniBatchKMeans}[method]
# Products and threads are warmed up first.
kind(int(words), n_init=1, max_iter=2, random_state=0).fit(x[: 20 * int(words)])
model = kind(int(words), n_init=1, random_state=int(seed))
start = time.perf_counter()
model.fit(x)
print(time.perf_counter() - start, model.n_iter_, sklearn.__version__)
numpy.savez(out, words=model.cluster_centers_.astype(numpy.float64).clip(0, 255))
