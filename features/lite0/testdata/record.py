"""Writes what ONNX Runtime makes of two patterns with lite0.onnx to patterns.f32:

    python record.py

2×1280 numbers, float32, little-endian. Needs onnxruntime.
"""

import pathlib

import numpy as np
import onnxruntime

here = pathlib.Path(__file__).parent
session = onnxruntime.InferenceSession(str(here.parent / "lite0.onnx"), providers=["CPUExecutionProvider"])
y, x, c = np.mgrid[:224, :224, :3]
rows = []
for pattern in [(x * (c + 2) + 3 * y) % 256, (x // 16 * 37 + y // 16 * 91 + c * 53) % 256]:
    image = ((pattern.astype(np.float32) - 127) / 128).transpose(2, 0, 1)[None]
    rows.append(session.run(["embedding"], {"input": np.ascontiguousarray(image)})[0][0])
np.array(rows, np.float32).tofile(here / "patterns.f32")
