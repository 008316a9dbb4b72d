#!/usr/bin/env python3
"""Times dense SIFT, and histograms of visual words, here and with OpenCV.

    PARTWISE_DATA=… python3 bench/sift/compare.py [--images 520] [--repeats 5] [--json]

Both describe the same patches of photographs of the set scenes13, on all cores:
`dense` begins with decoded images and ends with descriptors, `histogram` begins
with the files and ends with how often each of 200 words is in each of 4×4 cells.
OpenCV is called from Python in three ways (see opencv.py), of which the fastest
counts. Each round runs all of them, one after another. Printed are the medians
and our images/s as multiples of OpenCV's. Needs Go, NumPy and opencv-python.
"""

import argparse
import glob
import json
import os
import statistics
import subprocess
import sys
import tempfile

import cv2
import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
WORDS = 200


def build(directory):
    path = os.path.join(directory, "partwise")
    subprocess.run(["go", "build", "-o", path, "."], check=True, cwd=HERE, env={**os.environ, "CGO_ENABLED": "0"})
    return path


def some_words(files):
    """Descriptors drawn from some of the files, to serve as words."""
    sift = cv2.SIFT_create()
    points = [cv2.KeyPoint(float(x), float(y), 8 / 3, 0) for y in range(16, 200, 8) for x in range(16, 200, 8)]
    all_of_them = np.concatenate([sift.compute(cv2.imread(f, cv2.IMREAD_GRAYSCALE), points)[1] for f in files[::10]])
    return np.random.default_rng(1).permutation(np.unique(all_of_them, axis=0))[:WORDS]


def same(a, b):
    """The share of descriptors that are counted in the same bin."""
    a, b = np.fromfile(a, np.float32), np.fromfile(b, np.float32)
    return np.minimum(a, b).sum() / a.sum()


def main():
    args = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    args.add_argument("--images", type=int, default=520)
    args.add_argument("--repeats", type=int, default=5)
    args.add_argument("--stages", nargs="+", default=["dense", "histogram"])
    args.add_argument("--json", action="store_true", help="rows for bench/main.go")
    args = args.parse_args()
    files = sorted(glob.glob(os.path.join(os.environ.get("PARTWISE_DATA", ""), "scenes13", "*", "*", "*.jpg")))
    if not files:
        sys.exit("no images: PARTWISE_DATA has to name the folder that scenes13 is in")
    files = files[:: max(1, len(files) // args.images)][: args.images]
    with tempfile.TemporaryDirectory() as directory:
        at = lambda name: os.path.join(directory, name)
        with open(at("list"), "w") as f:
            f.write("\n".join(os.path.abspath(name) for name in files))
        some_words(files).tofile(at("words"))
        commands = {f"OpenCV, {how}": [sys.executable, os.path.join(HERE, "opencv.py"), "STAGE", how]
                    for how in ("threads", "pool", "processes")}
        commands["partwise"] = [build(directory), "STAGE"]
        for stage in args.stages:
            rates = {name: [] for name in commands}
            for _ in range(args.repeats):
                for name, command in commands.items():
                    command = [stage if word == "STAGE" else word for word in command]
                    out = subprocess.run([*command, at("list"), at("words"), at(name)], check=True, capture_output=True, text=True)
                    rates[name].append(len(files) / float(out.stdout.split()[0]))
            medians = {name: statistics.median(r) for name, r in rates.items()}
            best = max((name for name in medians if name.startswith("OpenCV")), key=medians.get)
            if args.json:
                row = {"problem": f"{stage}, {len(files)} images", "beside": f"OpenCV {cv2.__version__}" + best.removeprefix("OpenCV")}
                for key, of in (("theirs", best), ("ours", "partwise")):
                    row[key] = [len(files) / rate for rate in rates[of]]
                if stage == "histogram":
                    row["note"] = f"{100 * same(at('partwise'), at(best)):.2f} % counted the same"
                print(json.dumps(row), flush=True)
                continue
            print(f"{stage}, {len(files)} images, {os.cpu_count()} cores, OpenCV {cv2.__version__}, median of {args.repeats}")
            for name, rate in medians.items():
                line = f"  {name:19} {rate:7.1f} images/s, {min(rates[name]):.1f} to {max(rates[name]):.1f}"
                if not name.startswith("OpenCV"):
                    line += f"   {rate / medians[best]:.2f} × {best}"
                    if stage == "histogram":
                        line += f"   {100 * same(at(name), at(best)):.2f} % counted the same"
                print(line, flush=True)


if __name__ == "__main__":
    main()
