"""The examples for Dask and Spark, on clusters of this machine, give the files of plain commands."""

import os
import pathlib
import runpy
import shutil
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

import partwise
from partwise import _program

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples"


def test_dask(tmp_path, monkeypatch):
    distributed = pytest.importorskip("dask.distributed")
    monkeypatch.chdir(tmp_path)
    program = _program.binary()
    features = ["features", "generated", "--features", "pixels=8", "--out", "features", "--shard"]
    learn = ["cluster", "features", "-k", "4", "--passes", "1"]
    assign = ["assign", "here.npz", "features", "--out", "here", "--shard"]
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        run = [sys.executable, str(EXAMPLES / "dask" / "run.py"), cluster.scheduler_address]
        subprocess.run([*run, "3", program, *features, "{}"], check=True)
        _program.run(*learn, "--run", " ".join(run), "--out", "there.npz")
        _program.run(*learn, "--out", "here.npz")
        subprocess.run([*run, "3", program, *assign[:-2], "there", "--shard", "{}"], check=True)
        failed = subprocess.run([*run, "2", program, "features", "nowhere", "--shard", "{}", "--out", "x"], capture_output=True)
        assert failed.returncode and b"nowhere" in failed.stderr
    assert (tmp_path / "here.npz").read_bytes() == (tmp_path / "there.npz").read_bytes()
    for i in range(3):
        _program.run(*assign, f"{i}/3")
        name = f"rows-0000{i}-of-00003.csv"
        assert (tmp_path / "here" / name).read_bytes() == (tmp_path / "there" / name).read_bytes()


def test_spark(tmp_path, monkeypatch):
    sql = pytest.importorskip("pyspark.sql")
    pytest.importorskip("pyarrow")
    if not shutil.which("java"):
        pytest.skip("no Java")
    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(p for p in sys.path if p))  # for the workers
    spark = sql.SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").getOrCreate()
    try:
        x = np.random.default_rng(0).random((90, 12))
        frame = pd.DataFrame({"id": [f"row {i:03d}" for i in range(90)], "features": list(x)})
        spark.createDataFrame(frame).repartition(3).write.parquet(str(tmp_path / "vectors"))
        main = runpy.run_path(str(EXAMPLES / "spark" / "assign.py"))["main"]
        main(str(tmp_path / "vectors"), 4, str(tmp_path / "codes"))
    finally:
        spark.stop()
    codes = pd.read_parquet(tmp_path / "codes").sort_values("id")
    assert len(list((tmp_path / "codes").glob("*.parquet"))) > 1
    here = partwise.NMF(4, random_state=0).fit(x).transform(x)
    assert np.vstack(codes["codes"]).tobytes() == here.tobytes()
