"""Makes the Arrow files of this folder: python make.py (pyarrow 26, polars 2)."""
import datetime

import numpy as np
import polars as pl
import pyarrow as pa

table = pa.table({
    "name": ["a", "b", "c", "d"],
    "height": pa.array([1.5, -2.0, 0.25, 4.0], pa.float64()),
    "small": pa.array([1, 2, 3, 255], pa.uint8()),
    "large": pa.array([0, 1, 2**63, 7], pa.uint64()),
    "half": pa.array(np.array([0.5, 1, 2, 4], np.float16)),
    "price": pa.array([1, 2, -300, 4], pa.decimal128(5, 0)).cast(pa.decimal128(7, 2)),
    "seen": [True, False, True, True],
    "embedding": pa.array([[1, 2], [3, 4], [5, 6], [7, 8]], pa.list_(pa.float32(), 2)),
    "label": pa.array(["x", "y", None, "x"]).dictionary_encode(),
})


def write(name, table, codec=None, rows=3):
    new = pa.ipc.new_stream if name.endswith("arrows") else pa.ipc.new_file
    with new(name, table.schema, options=pa.ipc.IpcWriteOptions(compression=codec)) as out:
        out.write_table(table, max_chunksize=rows)


write("all-none.arrow", table)
write("all-lz4.arrow", table, "lz4")
write("all-zstd.arrows", table.set_column(7, "embedding", table["embedding"].cast(pa.large_list(pa.float64()))), "zstd", 2)
pl.from_arrow(table).write_ipc("all-polars.arrow")


def small(file, **columns):
    write(file + ".arrows", pa.table(columns))


small("rows", a=pa.nulls(3))
small("numbers", a=[1, 2, 3], b=[0.5, 1.5, 2.5], target=[3, 1, 3])
small("null", a=[1.0, 2.0, 3.0], b=[0.5, None, 2.5])
small("nulls", a=[1.0, 2.0], b=pa.nulls(2), c=[[1.0], []])
small("text", a=[1, 2], city=["Oslo", "Bern"])
small("long", name=["a", "a name of more than 12 bytes"], a=[1, 2])
small("date", a=[1, 2], day=[datetime.date(2020, 1, 1)] * 2)
small("ragged", a=[1, 2], vector=[[1.0, 2.0], [3.0]])
small("record", a=[1, 2], place=[{"x": 1, "y": 2}] * 2)
small("empty", a=pa.array([], pa.float64()))
