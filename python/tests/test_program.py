"""The estimators with pandas, sparse matrices, pipelines, pickles, errors and interrupts; commands on folders."""

import glob
import json
import os
import pickle
import runpy
import signal
import subprocess
import sys
import threading
import time
import warnings

import numpy as np
import pandas as pd
import pytest
import yaml
from jsonschema.validators import validator_for
from packaging.version import Version
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

import partwise
from partwise import _program

rng = np.random.default_rng(0)
PARTS = rng.random((4, 12))
X = rng.random((60, 4)) @ PARTS
Y = np.arange(60) % 3
CENTRES = 4 * np.eye(3, 12)
GROUPS = CENTRES[Y] + rng.random((60, 12))


def test_nmf_finds_the_parts():
    nmf = partwise.NMF(4, random_state=0, max_iter=2000, tol=1e-9)
    v = nmf.fit_transform(X)
    assert np.linalg.norm(X - v @ nmf.components_) < 1e-2 * np.linalg.norm(X)
    assert nmf.reconstruction_err_ == pytest.approx(np.linalg.norm(X - v @ nmf.components_), rel=1e-3, abs=1e-3)
    assert nmf.objective_.shape == (nmf.n_iter_ + 1,)
    np.testing.assert_allclose(nmf.inverse_transform(nmf.transform(X[:5])), X[:5], rtol=0.05, atol=0.02)
    np.testing.assert_array_equal(v, clone(nmf).fit_transform(X))


def test_kinds_of_samples():
    frame = pd.DataFrame(X, columns=[f"f{i}" for i in range(12)])
    nmf = partwise.NMF(3, random_state=0).set_output(transform="pandas")
    out = nmf.fit_transform(frame)
    assert list(out.columns) == ["nmf0", "nmf1", "nmf2"] and list(nmf.feature_names_in_) == list(frame.columns)
    thin = np.where(X > X.mean(), X, 0)
    dense, csr = (partwise.NMF(3, random_state=0).fit(x) for x in (thin, sparse.csr_matrix(thin)))
    np.testing.assert_allclose(dense.components_, csr.components_)
    np.testing.assert_allclose(dense.transform(thin), csr.transform(sparse.csc_array(thin)), atol=1e-6)
    small = (X * 50).astype(np.uint8)
    np.testing.assert_allclose(
        partwise.NMF(3, random_state=0).fit_transform(small), partwise.NMF(3, random_state=0).fit_transform(small.astype(float))
    )
    zeros = np.vstack([X, np.zeros(12)])
    assert not partwise.NMF(3, random_state=0).fit_transform(zeros)[-1].any()


def test_missing_weights_start_and_fixed_parts():
    holes = np.where(rng.random(X.shape) < 0.1, np.nan, X)
    nmf = partwise.NMF(4, random_state=0, max_iter=1000, tol=1e-9)
    v = nmf.fit_transform(holes)
    assert np.abs(v @ nmf.components_ - X)[np.isnan(holes)].max() < 0.3
    assert np.isfinite(nmf.transform(holes)).all()
    first = np.full(len(X), 1e-6)
    first[:30] = 1
    weighted = partwise.NMF(2, random_state=0).fit(X, weights=first)
    plain = partwise.NMF(2, random_state=0).fit(X)
    misfit = [np.linalg.norm(X[:30] - e.inverse_transform(e.transform(X[:30]))) for e in (weighted, plain)]
    assert misfit[0] < misfit[1]
    w, h = rng.random((60, 2)), rng.random((2, 12))
    one = partwise.NMF(2, init="custom", max_iter=1, solver="mu")
    np.testing.assert_array_equal(one.fit_transform(X, W=w, H=h), one.fit_transform(X, W=w, H=h))
    assert one.objective_[0] == pytest.approx(np.sum((X - w @ h) ** 2))
    fixed = partwise.NMF(4, random_state=0, fixed_components=PARTS[:2]).fit(X)
    np.testing.assert_allclose(fixed.components_[:2], PARTS[:2])


def test_labels_and_links():
    y = np.where(np.arange(60) < 12, Y, -1)
    labels = partwise.LabelledClusterer(3, random_state=0).fit_predict(GROUPS, y)
    assert (labels[:12] == Y[:12]).all() and (labels == Y).mean() > 0.9
    names = np.array(["bird", "cat", "dog"], object)[Y]
    names[12:] = None
    assert set(partwise.LabelledClusterer(3, random_state=0).fit_predict(GROUPS, names)) == {"bird", "cat", "dog"}
    km = partwise.ConstrainedKMeans(3, random_state=0).fit(GROUPS, must_link=[(0, 1)], cannot_link=[(0, 3)])
    assert km.labels_[0] == km.labels_[1] != km.labels_[3]
    v = partwise.CNMF(3, random_state=0).fit_transform(GROUPS, y)
    np.testing.assert_allclose(v[0], v[3])
    with pytest.raises(ValueError, match="requires y"):
        partwise.CCF(3).fit(X)


def test_kmeans():
    km = partwise.KMeans(3, random_state=0).fit(GROUPS)
    np.testing.assert_array_equal(km.predict(GROUPS), km.labels_)
    assert km.inertia_ == pytest.approx((km.transform(GROUPS).min(axis=1) ** 2).sum())
    assert partwise.KMeans("auto", random_state=0).fit(GROUPS).cluster_centers_.shape[1] == 12


def test_pipelines_and_pickles():
    search = GridSearchCV(
        make_pipeline(partwise.NMF(random_state=0), KNeighborsClassifier(1)), {"nmf__n_components": [2, 3]}, cv=2, n_jobs=2
    ).fit(GROUPS, Y)
    assert search.best_score_ > 0.8
    nmf = pickle.loads(pickle.dumps(search.best_estimator_[0]))
    np.testing.assert_array_equal(nmf.transform(GROUPS), search.best_estimator_[0].transform(GROUPS))
    with pytest.raises(NotFittedError):
        partwise.NMF().transform(X)


def test_threads(monkeypatch):
    assert _program.threads() == _program.cores()
    assert (_program.threads(3), _program.threads(-1)) == (3, _program.cores())
    monkeypatch.setattr(_program, "_in_loky", lambda: True)
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    assert _program.threads() == 1
    monkeypatch.delenv("OMP_NUM_THREADS")
    assert _program.threads() == 1


def test_errors_and_remarks(monkeypatch):
    for e, match, *guides in (
        (partwise.NMF(30), "rank 30"),
        (partwise.NMF(0), "n_components=0: expected a whole number from 1"),
        (partwise.KMeans(2.5), "n_clusters=2.5: expected"),
        (partwise.NMF(2, max_iter=None), "max_iter=None: expected"),
        (partwise.NMF(2, n_jobs=0), "n_jobs=0: expected"),
        (partwise.NMF(2, random_state=-1), "random_state=-1: expected"),
        (partwise.NMF(2, init="x"), "^nmf,init=x: unknown init"),
        (partwise.NMF(2, cost="x"), "unknown cost"),
        (partwise.NTF(2, image_shape=(5, 5)), "image_shape=.*of 12 values"),
        (partwise.NMF(2), "W, H or both", {"W": np.ones((5, 2))}),
        (partwise.NMF(2, init="custom"), "W has shape", {"W": np.ones((4, 2))}),
        (partwise.NMF(2), "weights has shape", {"weights": [1, 2]}),
        (partwise.NMF(2), "^weights.npy: row 2", {"weights": [1, np.nan, 1, 1, 1]}),
        (partwise.CNMF(2), "y has shape", {"y": [0, 1]}),
        (partwise.ConstrainedKMeans(2), "must_link: expected pairs", {"must_link": [(0, 5)]}),
        (partwise.ConstrainedKMeans(2), "cannot_link: expected pairs", {"cannot_link": [(0, -1)]}),
    ):
        with pytest.raises(ValueError, match=match):
            e.fit(X[:5], **(guides[0] if guides else {}))
    with pytest.raises(NotFittedError):  # the last fit failed
        e.predict(X[:5])
    with pytest.warns(UserWarning, match="did not converge") as seen:
        partwise.NMF(3, max_iter=1, random_state=0, solver="mu").fit_transform(X)
    assert seen[0].filename == __file__
    monkeypatch.setenv("PARTWISE_BINARY", "/nowhere/partwise")
    with pytest.raises(FileNotFoundError, match="nowhere"):
        partwise.NMF(2).fit(X)


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
def test_interrupt():
    big = np.random.default_rng(0).random((2000, 400))
    before = set(os.listdir(_program.tempfile.gettempdir())) | set(os.listdir("/dev/shm") if os.path.exists("/dev/shm") else [])
    # A process in the background ignores interrupts.
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    threading.Timer(1, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    begun = time.time()
    try:
        with pytest.raises(KeyboardInterrupt):
            partwise.NMF(50, solver="mu", max_iter=1_000_000).fit(big)
    finally:
        signal.signal(signal.SIGINT, handler)
    assert time.time() - begun < 30
    after = set(os.listdir(_program.tempfile.gettempdir())) | set(os.listdir("/dev/shm") if os.path.exists("/dev/shm") else [])
    assert not [n for n in after - before if n.startswith("partwise-")]


def test_verbose(capfd):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        partwise.NMF(2, random_state=0, verbose=1).fit(X)
    assert os.name == "nt" or "factorising" in capfd.readouterr().err


def test_large_arrays_are_mapped(tmp_path):
    big = np.arange(600_000, dtype=float).reshape(-1, 2)
    np.savez(tmp_path / "a.npz", big=big, small=np.arange(3), skipped=big)
    arrays = _program.load(tmp_path / "a.npz", skip=("skipped",))
    np.testing.assert_array_equal(arrays["big"], big)
    assert list(arrays) == ["big", "small"] and (os.name == "nt" or not arrays["big"].flags.owndata)


@pytest.fixture(scope="module")
def images(tmp_path_factory):
    folder = tmp_path_factory.mktemp("images")
    for i in range(12):
        pixels = (rng.random((40, 40, 3)) * 80 + (i % 3) * 50).astype(np.uint8)
        (folder / f"{i:02d}.ppm").write_bytes(b"P6 40 40 255\n" + pixels.tobytes())
    return folder


def test_image_features(images):
    features = partwise.ImageFeatures("pixels=8")
    all_of_them = features.fit_transform(images)
    assert all_of_them.shape == (12, 64) and features.names_[3] == "03.ppm"
    two = features.transform([images / "03.ppm", images / "01.ppm"])
    np.testing.assert_array_equal(two, all_of_them[[3, 1]])
    assert partwise.ImageFeatures().transform([images / "00.ppm", images / "01.ppm"]).shape == (2, 1280)
    with pytest.raises(FileNotFoundError):
        features.transform([images / "none.ppm"])


def test_visual_words(images):
    words = partwise.VisualWords(n_words=5, random_state=0)
    with pytest.raises(NotFittedError):
        words.transform(images)
    learned = words.fit_transform(images)
    again = pickle.loads(pickle.dumps(words)).transform(images)
    np.testing.assert_allclose(again.toarray(), learned.toarray())


def test_cluster_and_experiment(images, tmp_path):
    groups = partwise.cluster(images, 3, out=tmp_path / "groups", features="pixels=8", method="kmeans", random_state=0)
    assert groups.assignments["group"].nunique() == 3 and os.path.exists(groups.page)
    sparse_groups = partwise.cluster(sparse.csr_matrix(GROUPS), 3, random_state=0)
    assert len(sparse_groups.assignments) == 60 and repr(sparse_groups).startswith("Clustering(")
    shown = groups._repr_html_()
    assert shown.startswith("<iframe") and "data:image/" in shown and 'src=&quot;page/' not in shown
    settings = {"name": "small", "data": "generated", "features": {"pixels": 8}, "methods": ["kmeans", "nmf"], "classes": [3], "repeats": 2}
    found = partwise.experiment(settings)
    assert len(found.trials) == 4 and set(found.trials["method"]) == {"kmeans", "nmf"} and found.trials["NMI"].between(0, 1).all()
    partwise.experiment({**settings, "classes": np.array([3]), "repeats": np.int64(2), "methods": ["kmeans"]})
    with pytest.raises(ValueError, match="^experiment.yaml:.*nmff"):
        partwise.experiment({**settings, "methods": ["nmff"]})


def source(name):
    return os.path.join(os.path.dirname(__file__), "..", name)


def test_methods_are_current():
    generate = source("generate.py")
    code = f"import runpy; print(runpy.run_path({generate!r})['generated'](), end='')"
    want = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, encoding="utf-8", env={**os.environ, "PYTHONUTF8": "1"})
    with open(partwise._methods.__file__, encoding="utf-8") as file:
        assert file.read() == want.stdout, "run python generate.py"


def test_schema():
    schema = json.loads(_program.run("schema"))
    validator = validator_for(schema)(schema)
    files = glob.glob(source("../docs/experiments/*.yaml"))
    for file in files:
        with open(file, encoding="utf-8") as text:
            settings = yaml.safe_load(text)
        assert not list(validator.iter_errors(settings))
        assert not validator.is_valid({**settings, "repeat": 3})
    assert files


def test_command_and_version(monkeypatch):
    said = subprocess.run([sys.executable, "-m", "partwise", "version"], capture_output=True, text=True, check=True)
    assert said.stdout.startswith("partwise ")
    version = runpy.run_path(source("hatch_build.py"))["version"]
    for program, package in (
        (said.stdout.split()[1], partwise.__version__),
        ("v1.2.3", "1.2.3"),
        ("v1.2.3-rc.1", "1.2.3rc1"),
        ("v1.2.3-0a1b2c3d", "1.2.3+0a1b2c3d"),
        ("v1.2.4-0.20260102030405-0a1b2c3d4e5f+dirty", "1.2.4.dev20260102030405+0a1b2c3d4e5f.dirty"),
        ("v0.0.0-20260102030405-0a1b2c3d4e5f", "0.0.0.dev20260102030405+0a1b2c3d4e5f"),
        ("unversioned", "0"),
    ):
        monkeypatch.setenv("PARTWISE_VERSION", program)
        assert str(Version(version())) == package
