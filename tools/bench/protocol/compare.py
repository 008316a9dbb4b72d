#!/usr/bin/env python3
"""Times whole protocols of papers against NumPy and scikit-learn (peer.py).

    PARTWISE_DATA=folder python3 bench/protocol/compare.py [--draws 10] [--repeats 3] [--only ccf-yale,cnmf-orl,scenes13] [--json]

ccf-yale and cnmf-orl are the experiments of docs/experiments with all of their draws, unless --draws
says otherwise: with the papers' rule, and with the solver fast where that serves, to an objective like
that of the rule's iterations or a lower one: until an iteration lowers it by less than the tolerances
below, with which of the 90 fits of ten draws it was no higher in 86 of nmf, nmf-ncw and cnmf each, 79 of ccf and of
cnmf-kl, 73 of Yale's cf and all of ORL's. nmf and ccf, which starts from its factors, have one tolerance, so that
these are found once. scenes13 is the recognition of its photographs by pca,
lda and mfa at ten ranks, from histograms that partwise features has made before. Both take all
processors. Of partwise the whole command is timed, from reading to the page; of the other only what
computes. Draws are by seeds of their own; the mean accuracies of both are printed. Needs Go, NumPy, SciPy
and scikit-learn. The folder holds mat/Yale_32x32.mat, mat/ORL_32x32.mat and scenes13.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np
import sklearn

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))
DATA = os.environ.get("PARTWISE_DATA", "")


def fast(tolerance):
    return ",solver=fast,tolerance=" + tolerance


def experiment(name, data, methods):
    """The flags of the experiment in docs/experiments, and with these methods in place of its own."""
    args = [os.path.join(ROOT, "docs", "experiments", name + ".yaml"), "--set", data]
    return {"mu": args, "fast": args + [word for m in methods for word in ("--method", m)]}


FACES = {
    "ccf-yale": ("Yale_32x32", experiment("ccf-yale", "yale,from=mat", [
        "kmeans", "nmf" + fast("1e-4"), "cf,iterations=1000" + fast("1e-4"), "semi-gnmf,lambda=100", "ccf,init=nmf,iterations=1000" + fast("1e-4")])),
    "cnmf-orl": ("ORL_32x32", experiment("cnmf-orl", "orl,from=mat", [
        "nmf-ncw" + fast("3e-4"), "ntf", "gnmf", "semi-gnmf", "cf" + fast("1e-2"), "cnmf" + fast("3e-4"), "cnmf-kl" + fast("1e-4")])),
}
SCENES = ["--task", "classify", "--train", "100", "--test", "100", "--neighbours", "10", "--rank", "[5, 8, 12, 15, 18, 21, 26, 31, 35, 40]", "--seed", "1",
          "--method", "original", "--method", "pca", "--method", "lda", "--method", "mfa"]


def theirs(protocol, file, draws):
    out = subprocess.run([sys.executable, os.path.join(HERE, "peer.py"), protocol, file, str(draws)], check=True, stdout=subprocess.PIPE, text=True).stdout
    got = json.loads(out)
    return got["seconds"], got["processor"], got["accuracy"]


def ours(program, args, draws):
    with tempfile.TemporaryDirectory() as out:
        begin = time.perf_counter()
        child = subprocess.Popen([program, "run", *args, "--repeats", str(draws), "--name", "x", "--out", out], stdout=subprocess.DEVNULL)
        _, status, usage = os.wait4(child.pid, 0)
        seconds = time.perf_counter() - begin
        if child.returncode is None:
            child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode:
            raise RuntimeError(f"partwise run {' '.join(args)} ended with {child.returncode}")
        with open(os.path.join(out, "results.jsonl")) as f:
            records = [json.loads(line) for line in f]
    scores = {}
    for r in records:
        scores.setdefault((r["method"], r.get("row", 0)), []).append(r["scores"].get("AC", r["scores"].get("accuracy")))
    best = {}
    for (method, _), found in scores.items():
        best[method] = max(best.get(method, 0), float(np.mean(found)))
    return seconds, usage.ru_utime + usage.ru_stime, best


def compare(name, what, their_file, variants, program, args):
    runs = {}
    for _ in range(args.repeats):
        runs.setdefault("", []).append(theirs(name, their_file, args.draws))
        for variant, flags in variants.items():
            runs.setdefault(variant, []).append(ours(program, flags, args.draws))
    other, other_cpu, _ = zip(*runs[""])
    for variant in variants:
        wall, cpu, _ = zip(*runs[variant])
        mean = [100 * statistics.mean(runs[v][0][2].values()) for v in ("", variant)]
        row = {"problem": f"{name}, {what}" + (f", `{variant}`" if variant != "direct" else ""), "beside": f"NumPy {np.__version__}, scikit-learn {sklearn.__version__}",
               "theirs": other, "ours": wall, "theirs_processor": other_cpu, "ours_processor": cpu, "note": f"mean accuracy {mean[0]:.1f} and {mean[1]:.1f} %"}
        print(json.dumps(row) if args.json else row, flush=True)
        print("  " + "; ".join(f"{m} {v:.3f}" for m, v in runs[variant][0][2].items()), file=sys.stderr)
    print("  NumPy: " + "; ".join(f"{m} {v:.3f}" for m, v in runs[""][0][2].items()), file=sys.stderr)


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--draws", type=int, default=10)
    p.add_argument("--repeats", type=int, default=3)
    p.add_argument("--only", default="ccf-yale,cnmf-orl,scenes13")
    p.add_argument("--json", action="store_true", help="rows for bench/main.go")
    args = p.parse_args()
    draws = f"{args.draws} draw{'s' if args.draws > 1 else ''}"
    with tempfile.TemporaryDirectory() as directory:
        program = os.path.join(directory, "partwise")
        subprocess.run(["go", "build", "-o", program, "./cmd/partwise"], check=True, cwd=ROOT, env={**os.environ, "CGO_ENABLED": "0"})
        for name in args.only.split(","):
            file = os.path.join(DATA, "mat", FACES[name][0] + ".mat") if name in FACES else os.path.join(DATA, name)
            if not os.path.exists(file):
                print(f"{name} is left out: {file} is not there", file=sys.stderr)
                continue
            if name in FACES:
                compare(name, f"{draws} of 2 to 10 classes", file, FACES[name][1], program, args)
                continue
            file = os.path.join(directory, "scenes13.npz")
            subprocess.run([program, "features", "scenes13", "--features", "sift=dense,words=200,grid=4x4", "--out", file], check=True, stdout=subprocess.DEVNULL)
            compare(name, f"{draws}, original, pca, lda, mfa at 10 ranks", file, {"direct": ["--set", file, *SCENES]}, program, args)


if __name__ == "__main__":
    main()
