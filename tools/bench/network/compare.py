#!/usr/bin/env python3
"""Times the built-in network here and with ONNX Runtime, each on one core, by turns.

    python3 bench/network/compare.py [--images 20] [--repeats 5] [--json]

Both run the same model on the same image, a few times a turn. Printed are the medians of the
milliseconds an image, of the clock and of a processor, and the median of what share ours is
in each turn. Needs Go, NumPy and onnxruntime.
"""

import argparse
import json
import os
import statistics
import subprocess
import tempfile
import time

import numpy as np
import onnxruntime

HERE = os.path.dirname(os.path.abspath(__file__))
MODEL = os.path.join(HERE, "..", "..", "..", "features", "lite0", "lite0.onnx")


def session():
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    return onnxruntime.InferenceSession(MODEL, options, providers=["CPUExecutionProvider"])


def main():
    args = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    args.add_argument("--images", type=int, default=20)
    args.add_argument("--repeats", type=int, default=5)
    args.add_argument("--json", action="store_true", help="a row for bench/main.go")
    args = args.parse_args()
    y, x, c = np.mgrid[:224, :224, :3]
    pattern = (x // 16 * 37 + y // 16 * 91 + c * 53) % 256
    image = np.ascontiguousarray(((pattern.astype(np.float32) - 127) / 128).transpose(2, 0, 1)[None])
    theirs = session()
    (want,) = theirs.run(["embedding"], {"input": image})
    times = {"theirs": [], "ours": [], "theirs_processor": [], "ours_processor": []}
    with tempfile.TemporaryDirectory() as directory:
        program, out = os.path.join(directory, "network"), os.path.join(directory, "out")
        subprocess.run(["go", "build", "-o", program, "."], check=True, cwd=HERE)
        with subprocess.Popen([program, MODEL, out], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as ours:
            for turn in range(args.repeats + 1):
                clock, processor = time.perf_counter(), time.process_time()
                for _ in range(args.images):
                    theirs.run(["embedding"], {"input": image})
                clock, processor = time.perf_counter() - clock, time.process_time() - processor
                ours.stdin.write(f"{args.images}\n")
                ours.stdin.flush()
                own = [float(word) for word in ours.stdout.readline().split()]
                if turn > 0:  # the first warms up
                    for key, seconds in zip(times, [clock, own[0], processor, own[1]]):
                        times[key].append(seconds)
            ours.stdin.close()
        got = np.fromfile(out, np.float32)
    off = np.abs(got - want[0]).max() / want.max()
    note = f"off by {off:.0e} of the largest value"
    if args.json:
        row = {"problem": f"EfficientNet-Lite0, {args.images} images, one core", "beside": f"ONNX Runtime {onnxruntime.__version__}"}
        print(json.dumps({**row, **times, "note": note}), flush=True)
        return
    for clock, of in (("clock", ""), ("processor", "_processor")):
        a, b = times["theirs" + of], times["ours" + of]
        ms = lambda t: 1000 * statistics.median(t) / args.images
        share = statistics.median(o / t for o, t in zip(b, a))
        print(f"{clock:9} ONNX Runtime {ms(a):6.1f} ms an image, ours {ms(b):6.1f}: {share:.2f} of it")
    print(note)


if __name__ == "__main__":
    main()
