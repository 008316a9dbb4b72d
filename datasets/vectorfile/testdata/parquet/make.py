"""Makes the Parquet files of this folder: python make.py (pyarrow 26, pandas not needed)."""
import datetime

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

table = pa.table({
    "name": ["a", "b", "c", "d"],
    "height": pa.array([1.5, -2.0, 0.25, 4.0], pa.float64()),
    "small": pa.array([1, 2, 3, 255], pa.uint8()),
    "large": pa.array([0, 1, 2**63, 7], pa.uint64()),
    "half": pa.array(np.array([0.5, 1, 2, 4], np.float16)),
    "price": pa.array([1, 2, -300, 4], pa.decimal128(5, 0)).cast(pa.decimal128(7, 2)),
    "seen": [True, False, True, True],
    "embedding": pa.array([[1, 2], [3, 4], [5, 6], [7, 8]], pa.list_(pa.float32())),
    "label": pa.array(["x", "y", None, "x"]).dictionary_encode(),
})
for codec in ["none", "snappy", "zstd", "gzip", "brotli", "lz4"]:
    pq.write_table(table, "lz4.parquet" if codec == "lz4" else f"all-{codec}.parquet", compression=codec, row_group_size=3, store_decimal_as_integer=codec == "none",
                   data_page_version="2.0" if codec == "zstd" else "1.0")

def small(name, **columns):
    pq.write_table(pa.table(columns), name + ".parquet", compression="none")

small("numbers", a=[1, 2, 3], b=[0.5, 1.5, 2.5], target=[3, 1, 3])
small("null", a=[1.0, 2.0, 3.0], b=[0.5, None, 2.5])
small("text", a=[1, 2], city=["Oslo", "Bern"])
small("date", a=[1, 2], day=[datetime.date(2020, 1, 1)] * 2)
small("ragged", a=[1, 2], vector=[[1.0, 2.0], [3.0]])
small("record", a=[1, 2], place=[{"x": 1, "y": 2}] * 2)
small("empty", a=pa.array([], pa.float64()))
