"""Does one stage of compare.py with OpenCV and prints the seconds that it took.

    opencv.py dense|histogram threads|pool|processes LIST WORDS OUT

LIST names the image files, a line each; WORDS holds the words as rows of 128
numbers of float32. `threads` leaves the threads to OpenCV and NumPy, `pool` runs
images side by side on threads of Python, `processes` in processes. The
histograms go to OUT, rows of float32.
"""

import math
import multiprocessing.pool
import os
import sys
import time

stage, how, names, words, out = sys.argv[1:]
if how != "threads":
    os.environ["OPENBLAS_NUM_THREADS"] = "1"

import cv2
import numpy as np

if how != "threads":
    cv2.setNumThreads(1)

STEP, BIN, CELLS = 8, 4, 4
words = np.fromfile(words, np.float32).reshape(-1, 128)
norms = (words * words).sum(1)
# The blur of 0.67 that DenseSIFT has, of images that OpenCV takes to have 0.5.
sift = cv2.SIFT_create(sigma=math.hypot(0.5, 0.67))
grids = {}


def grid(shape):
    """The patches of an image, as key points, and the cells that they are in."""
    if shape not in grids:
        height, width = shape
        xs = np.arange(2 * BIN, width - 2 * BIN + 1, STEP)
        ys = np.arange(2 * BIN, height - 2 * BIN + 1, STEP)
        points = [cv2.KeyPoint(float(x), float(y), BIN / 1.5, 0) for y in ys for x in xs]
        cells = ((2 * ys + 1) * CELLS // (2 * height))[:, None] * CELLS + (2 * xs + 1) * CELLS // (2 * width)
        grids[shape] = points, cells.ravel() * len(words)
    return grids[shape]


def read(name):
    return cv2.imread(name, cv2.IMREAD_GRAYSCALE)


def dense(image):
    _, vectors = sift.compute(image, grid(image.shape)[0])
    return vectors.shape[0]


def histogram(name):
    image = read(name)
    points, cells = grid(image.shape)
    _, vectors = sift.compute(image, points)
    nearest = (norms - 2 * (vectors @ words.T)).argmin(1)
    return np.bincount(cells + nearest, minlength=CELLS * CELLS * len(words)).astype(np.float32)


def main():
    with open(names) as f:
        files = f.read().split("\n")
    items = [read(name) for name in files] if stage == "dense" else files
    work = dense if stage == "dense" else histogram
    for shape in {read(name).shape for name in files}:
        grid(shape)
    workers = os.cpu_count()
    if how == "processes":
        # Forked, so that the decoded images are there already.
        global image_work
        image_work = lambda i: work(items[i])
        pool = multiprocessing.get_context("fork").Pool(workers)
        run = lambda n: pool.map(indexed, range(n), chunksize=8)
    elif how == "pool":
        pool = multiprocessing.pool.ThreadPool(workers)
        run = lambda n: pool.map(work, items[:n], chunksize=8)
    else:
        run = lambda n: [work(item) for item in items[:n]]
    run(min(32, len(items)))
    begin = time.perf_counter()
    results = run(len(items))
    print(time.perf_counter() - begin, cv2.__version__)
    if stage == "histogram":
        np.stack(results).tofile(out)


def indexed(i):
    return image_work(i)


main()
