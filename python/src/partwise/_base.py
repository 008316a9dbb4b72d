"""The classes from which all estimators are made; _methods.py has one class for each method of the program."""

import csv
import inspect
import io
import json
import re
from numbers import Integral

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from . import _program

_DTYPES = [np.float64, np.float32, np.uint8]


def seed_of(random_state):
    """Return the program's random seed for a random_state of scikit-learn."""
    if isinstance(random_state, Integral):
        if random_state < 0:
            raise ValueError(f"random_state={random_state}: expected a whole number of 0 or more")
        return int(random_state)
    return int(check_random_state(random_state).randint(2**31 - 1))


def setting(value):
    """Return the value of a setting as the program reads it."""
    if isinstance(value, (bool, np.bool_)):
        return str(bool(value)).lower()
    return str(value)


def table(rows):
    """Return rows as CSV."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()


def unlabelled(y):
    """Return which labels are missing: -1, NaN, None or ""."""
    return np.array([v is None or v == "" or v != v or (not isinstance(v, str) and v == -1) for v in y.tolist()], bool)


def pairs_of(name, pairs, n):
    """Return links as pairs of the indices of n samples."""
    found = np.asarray([] if pairs is None else pairs)
    if found.size == 0:
        return []
    if found.ndim != 2 or found.shape[1] != 2 or found.dtype.kind not in "iu" or found.min() < 0 or found.max() >= n:
        raise ValueError(f"{name}: expected pairs of indices of samples, from 0 to {n - 1}")
    return found.tolist()


def rows_of(name, values, rows, n):
    """Return rows of an array that has one for each of n samples."""
    values = np.asarray(values, float)
    if values.shape[:1] != (n,):
        raise ValueError(f"{name} has shape {values.shape}, but there are {n} samples")
    return values[rows]


class Estimator(BaseEstimator):
    """A method of the program. Subclasses set the attributes with an underscore and __init__."""

    _method = ""
    _settings = {}  # names of the program by parameter
    _needs = ()  # labels, links (in place of labels; without labels they are optional), images
    _supports = ()  # signed, missing, weights, new
    _each_class = False  # each labelled class needs a basis vector of its own

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = "images" not in self._needs and not hasattr(self, "batch_size")
        tags.input_tags.positive_only = "signed" not in self._supports
        tags.input_tags.allow_nan = "missing" in self._supports
        tags.target_tags.required = "labels" in self._needs
        return tags

    def __sklearn_is_fitted__(self):
        return hasattr(self, "_model")

    def _samples(self, x, reset):
        """Return the checked samples, and which of them have a value other than 0."""
        for name, least in (("n_components", 1), ("n_clusters", 1), ("max_iter", 0), ("batch_size", 1)):
            value, auto = getattr(self, name, least), name.startswith("n_")
            if not (isinstance(value, Integral) and value >= least or auto and isinstance(value, str) and value == "auto"):
                raise ValueError(f"{name}={value!r}: expected a whole number from {least}" + auto * ' or "auto"')
        tags = self.__sklearn_tags__().input_tags
        x = validate_data(
            self,
            x,
            reset=reset,
            dtype=_DTYPES,
            accept_sparse="csr" if tags.sparse else False,
            ensure_all_finite="allow-nan" if tags.allow_nan else True,
            ensure_min_samples=2 if reset else 1,
        )
        if sparse.issparse(x):
            if not x.has_canonical_format:
                x = x.copy()
                x.sum_duplicates()
            values, used = x.data, np.asarray(abs(x).sum(axis=1)).ravel() > 0
        else:
            values, used = x, (x != 0).any(axis=1)
        if tags.positive_only and values.size and np.nanmin(values) < 0:
            raise ValueError(f"Negative values in data passed to {type(self).__name__}")
        return x, used

    def _labels(self, y, n):
        """Return the classes, and the index of each sample's class, -1 for unlabelled samples."""
        y = np.asarray(y)
        if y.ndim == 2 and y.shape[1] == 1:
            y = y.ravel()
        if y.shape != (n,):
            raise ValueError(f"y has shape {y.shape}, but there are {n} samples")
        missing = unlabelled(y)
        index = np.full(n, -1)
        classes, index[~missing] = np.unique(y[~missing], return_inverse=True)
        return classes, index

    def _guides(self, folder, n, rows, y, must_link, cannot_link, weights=None):
        """Write labels, links and weights for the samples of the rows, and return the arguments for them."""
        takes_links = "links" in self._needs
        takes_labels = takes_links or "labels" in self._needs
        links = [(*pair, "must") for pair in pairs_of("must_link", must_link, n)]
        links += [(*pair, "cannot") for pair in pairs_of("cannot_link", cannot_link, n)]
        if links and not takes_links:
            raise ValueError(f"{type(self).__name__} does not support links")
        at = np.full(n, -1)
        at[rows] = np.arange(len(rows))
        file = "X.npz" if self._sparse else "X.npy"
        args, self.classes_ = [], None
        if takes_labels and y is not None:
            self.classes_, index = self._labels(y, n)
            labels = [(f"{file} row {at[i] + 1}", int(c)) for i, c in enumerate(index) if c >= 0 and at[i] >= 0]
            self._free = len(rows) - len(labels)
            if labels:
                args += ["--labels", folder.write("labels.csv", table(labels))]
        elif takes_labels and not links and self.__sklearn_tags__().target_tags.required:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None")
        if self.classes_ is None:
            del self.classes_
        if links:
            name = lambda i: f"{file} row {at[i] + 1}"  # noqa: E731
            kept = [(name(a), name(b), kind) for a, b, kind in links if at[a] >= 0 and at[b] >= 0]
            args += ["--links", folder.write("links.csv", table(kept))]
        if weights is not None:
            np.save(folder.path("weights.npy"), rows_of("weights", weights, rows, n))
            args += ["--weights", folder.path("weights.npy")]
        return args

    def _command(self, params):
        """Return the method or clustering algorithm with the settings that differ from their defaults."""
        words, defaults = [], inspect.signature(type(self)).parameters
        for param, name in params.items():
            value = getattr(self, param)
            if value is not None and value != defaults[param].default:
                words.append(f"{name}={setting(value)}")
        return words

    def _images(self, X):
        """Return samples as the program needs them: as images, if the method is for images."""
        if getattr(self, "image_shape", None) is None and "images" not in self._needs:
            return X
        try:
            return X.reshape(len(X), *(self.image_shape or (X.shape[1], 1)))
        except (TypeError, ValueError):
            raise ValueError(f"image_shape={self.image_shape!r}: expected (height, width) of {X.shape[1]} values") from None

    def _run(self, *args):
        try:
            return _program.run(*args, verbose=self.verbose, n_jobs=self.n_jobs)
        except ValueError as e:
            raise ValueError(re.sub("^--?[a-z-]+:? ", "", str(e))) from None  # without the flag


class Factorisation(Estimator):
    """X ≈ V·Uᵀ: fit_transform returns the coefficients V, and components_ is Uᵀ."""

    def fit(self, X, y=None, *, must_link=None, cannot_link=None, weights=None, W=None, H=None):
        """Factorise X.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
        y : array of shape (n_samples,), optional
            Labels, for methods that use them; -1, NaN, None or "" is an unlabelled sample.
        must_link, cannot_link : arrays of shape (n_pairs, 2), optional
            Pairs of samples, for methods that use links.
        weights : array of shape (n_samples,) or of the shape of X, optional
            Weights above 0 of the samples, or from 0 of the values. Missing values (NaN) need none.
        W, H : arrays of shape (n_samples, n_components) and (n_components, n_features), optional
            Initial factors for init="custom".

        Returns
        -------
        self
        """
        self._fit(X, y, must_link, cannot_link, weights, W, H)
        return self

    def fit_transform(self, X, y=None, *, must_link=None, cannot_link=None, weights=None, W=None, H=None):
        """Factorise X and return the coefficients V, of shape (n_samples, n_components); see fit."""
        return self._fit(X, y, must_link, cannot_link, weights, W, H)

    def _fit(self, X, y, must_link, cannot_link, weights, W, H):
        X, used = self._samples(X, True)
        n, rows, self._sparse = X.shape[0], np.flatnonzero(used), sparse.issparse(X)
        if len(rows) == 0:
            raise ValueError("all values of X are 0")
        custom = getattr(self, "init", None) == "custom"
        if custom != (W is not None or H is not None):
            raise ValueError("init='custom' needs W, H or both, and other values of init take neither")
        with _program.Folder(getattr(X, "nbytes", 0)) as folder:
            args = self._guides(folder, n, rows, y, must_link, cannot_link, weights)
            own = self._command({p: s for p, s in self._settings.items() if not (custom and p == "init")})
            if getattr(self, "tol", None) is not None:
                own.append(f"tolerance={self.tol}")
            if getattr(self, "fixed_components", None) is not None:
                np.save(folder.path("fixed.npy"), np.asarray(self.fixed_components, float))
                own.append("fixed-basis=" + folder.path("fixed.npy"))
            args += ["--method", ",".join([self._method, *own])]
            if hasattr(self, "solver"):
                args += ["--solver", self.solver]
            if hasattr(self, "max_iter"):
                args += ["--iterations", self.max_iter]
            if hasattr(self, "batch_size"):
                args += ["--batch", self.batch_size]
            if custom:
                start = {} if W is None else {"coefficients": rows_of("W", W, rows, n)}
                if H is not None:
                    start["basis"] = np.ascontiguousarray(np.transpose(H), dtype=float)
                np.savez(folder.path("start.npz"), **start)
                args += ["--start", folder.path("start.npz")]
            kept = X if len(rows) == n else X[rows]
            if np.issubdtype(X.dtype, np.floating) and np.isnan(X.data if self._sparse else X).any():
                args += ["--missing", "nan"]
            path = folder.put(np.ascontiguousarray(kept) if hasattr(self, "batch_size") else self._images(kept))
            rank = self.n_components
            if self._each_class and hasattr(self, "classes_") and rank != "auto":
                rank = max(rank, len(self.classes_))
            args += ["--rank", rank, "--seed", seed_of(self.random_state), "--no-cache", "--out", folder.path("model.npz")]
            self._run("fit", path, *args)
            model = _program.load(folder.path("model.npz"), skip=("names",))
        coefficients = model.pop("coefficients")
        objective, penalty = model.pop("objective", None), model.pop("penalty", 0)
        self._model = model
        if "basis" in model:
            self.components_ = np.ascontiguousarray(model["basis"].T)
        if "mean" in model:
            self.mean_ = model["mean"]
        self.n_components_ = self._n_features_out = coefficients.shape[1]
        if objective is not None:
            self.objective_ = objective
            self.n_iter_ = max(1, len(objective) - 1)
            self.reconstruction_err_ = self._error(float((objective - penalty)[-1]))
        v = np.zeros((n, coefficients.shape[1]))
        if len(rows) == n:
            v = coefficients
        else:
            v[rows] = coefficients
        return v

    def _error(self, objective):
        frobenius = getattr(self, "cost", "frobenius") in ("frobenius", None) and not self._method.endswith("-kl") and self._method != "d-snmf"
        return float(np.sqrt(max(0, objective if frobenius else 2 * objective)))


class Transformer(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Factorisation):
    """A factorisation that computes the coefficients V of new samples."""

    def fit_transform(self, X, y=None, *, must_link=None, cannot_link=None, weights=None, W=None, H=None):
        """Factorise X and return the coefficients V, of shape (n_samples, n_components); see fit."""
        return self._fit(X, y, must_link, cannot_link, weights, W, H)

    def transform(self, X):
        """Return the coefficients of X for the fitted basis, an array of shape (n_samples, n_components)."""
        check_is_fitted(self)
        X, used = self._samples(X, False)
        if "mean" in self._model:
            return np.asarray(X @ self._model["basis"] - self.mean_ @ self._model["basis"])
        out = np.zeros((X.shape[0], self.n_components_))
        if not used.any():
            return out
        with _program.Folder(getattr(X, "nbytes", 0)) as folder:
            kept = X if used.all() else X[used]
            args = []
            if np.issubdtype(X.dtype, np.floating) and np.isnan(X.data if sparse.issparse(X) else X).any():
                args += ["--missing", "nan"]
            np.savez(folder.path("model.npz"), **self._model)
            self._run("apply", folder.path("model.npz"), folder.put(self._images(kept)), *args, "--no-cache", "--out", folder.path("v.npz"))
            out[used] = _program.load(folder.path("v.npz"))["fea"]
        return out

    def inverse_transform(self, X):
        """Return V·Uᵀ (+ the mean) for coefficients V."""
        check_is_fitted(self)
        return np.asarray(X) @ self.components_ + getattr(self, "mean_", 0)


class Clusterer(ClusterMixin, Estimator):
    """Clusters of samples. predict returns the cluster with the nearest centre."""

    _without = ""  # the algorithm without labels and links, "" if it needs them

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.required = "labels" in self._needs and not self._without
        return tags

    def fit(self, X, y=None, *, must_link=None, cannot_link=None):
        """Cluster X.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
        y : array of shape (n_samples,), optional
            Labels, for methods that use them; -1, NaN, None or "" is an unlabelled sample.
        must_link, cannot_link : arrays of shape (n_pairs, 2), optional
            Pairs of samples that share a cluster or never do, for methods that use links.

        Returns
        -------
        self
        """
        X, used = self._samples(X, True)
        n, rows, self._sparse = X.shape[0], np.flatnonzero(used), sparse.issparse(X)
        if len(rows) == 0:
            raise ValueError("all values of X are 0")
        with _program.Folder(getattr(X, "nbytes", 0)) as folder:
            args = self._guides(folder, n, rows, y, must_link, cannot_link)
            method = self._method if args or "labels" not in self._needs else self._without
            if not method:
                raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None")
            k = self.n_clusters
            if hasattr(self, "classes_") and k != "auto":
                # Each class has a cluster of its own, and each other cluster an unlabelled sample.
                k = max(len(self.classes_), min(k, len(self.classes_) + self._free))
            if k == 1:  # the program needs two clusters
                groups, names, self._metric = np.zeros(len(rows), int), [""], "euclidean"
                self._model = {"group_centres": np.asarray(X.mean(axis=0), float).reshape(1, -1)}
            else:
                own = self._command({p: s for p, s in self._settings.items() if p != "distance"})
                args += ["--cluster", ",".join(["distance=" + getattr(self, "distance", "euclidean"), *own])]
                args += ["--method", method, "--features", "normalise=none", "-k", k, "--seed", seed_of(self.random_state)]
                path = folder.put(X if len(rows) == n else X[rows])
                self._run("cluster", path, *args, "--no-cache", "--out", folder.path("model.npz"))
                self._model = _program.load(folder.path("model.npz"), skip=("names", "sample_contents"))
                about = json.loads(bytes(self._model["model"]))["groups"]
                groups, names, self._metric = self._model.pop("sample_groups"), about["names"], about["distance"]
        # A labelled class keeps its own value; other clusters get the next integers.
        self._values = np.arange(len(names))
        if hasattr(self, "classes_"):
            self._values = self._values_of(names)
        self._propagated = self._model["group_centres"].shape[1] != self.n_features_in_ or "graph_points" in self._model
        if not self._propagated:
            self.cluster_centers_ = self._model["group_centres"]
        index = np.empty(n, int)
        index[rows] = groups
        if len(rows) < n:  # samples of zeros
            index[~used] = np.linalg.norm(self._model["group_centres"], axis=1).argmin()
        self.labels_ = self._values[index]
        if not self._propagated:
            self.inertia_ = float(self._inertia(X, index))
        return self

    def fit_predict(self, X, y=None, **links):
        """Cluster X and return the cluster of each sample; see fit."""
        return self.fit(X, y, **links).labels_

    def _values_of(self, names):
        if np.issubdtype(self.classes_.dtype, np.number):
            free = iter(range(int(max(self.classes_, default=-1)) + 1, 2**62))
            return np.array([self.classes_[int(v)] if v else self.classes_.dtype.type(next(free)) for v in names])
        return np.array([self.classes_[int(v)] if v else f"cluster {i}" for i, v in enumerate(names)])

    def _inertia(self, X, index):
        centres = self.cluster_centers_
        if sparse.issparse(X):
            squares = np.asarray(X.multiply(X).sum(axis=1)).ravel()
            cross = np.asarray(X.multiply(centres[index]).sum(axis=1)).ravel()
            return (squares - 2 * cross + (centres**2).sum(axis=1)[index]).sum()
        return ((X - centres[index]) ** 2).sum()

    def predict(self, X):
        """Return the cluster of each sample, by the nearest centre."""
        check_is_fitted(self)
        X, used = self._samples(X, False)
        index = np.empty(X.shape[0], int)
        index[~used] = np.linalg.norm(self._model["group_centres"], axis=1).argmin()
        if self._propagated and used.any():
            with _program.Folder(getattr(X, "nbytes", 0)) as folder:
                np.savez(folder.path("model.npz"), **self._model)
                path = folder.put(X if used.all() else X[used])
                self._run("assign", folder.path("model.npz"), path, "--reject", 0, "--no-cache", "--out", folder.path("groups.csv"))
                with open(folder.path("groups.csv"), encoding="utf-8", newline="") as file:
                    index[used] = [int(row["group"]) - 1 for row in csv.DictReader(file)]
        elif used.any():
            index[used] = self._distances(X if used.all() else X[used]).argmin(axis=1)
        return self._values[index]

    def _distances(self, X):
        from sklearn.metrics import pairwise_distances

        return pairwise_distances(X, self.cluster_centers_, metric=self._metric)


class CentroidClusterer(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Clusterer):
    """Clusters with centres; transform returns the distances to them."""

    @property
    def _n_features_out(self):
        return len(self.cluster_centers_)

    def transform(self, X):
        """Return the distance of each sample to each centre."""
        check_is_fitted(self)
        return self._distances(self._samples(X, False)[0])


class LabelledClusterer(Clusterer):
    """Clusters that obey labels and links: each labelled class becomes one cluster, with all of its labelled samples.

    Parameters
    ----------
    n_clusters : int or "auto", default 8
        The number of clusters; at least the number of labelled classes.
    method : str, default "guided-kmeans"
        guided-kmeans, constrained-kmeans, cop-kmeans, seeded-kmeans, label-spreading, harmonic, self-training, logistic or
        nearest-labelled; each is an estimator of its own, too.
    random_state : int, RandomState or None
        Seed of the random numbers.
    n_jobs : int
        Number of threads, -1 for all cores; None is the share of the process in joblib, else all cores.
    verbose : int
        1 shows the progress.

    Attributes
    ----------
    labels_ : array of shape (n_samples,)
        The class of each sample; clusters without a class have the next integers.
    classes_ : array
        The labelled classes.
    cluster_centers_ : array of shape (n_clusters, n_features)
    inertia_ : float
    n_features_in_ : int
    feature_names_in_ : array, if X has names
    """

    _needs = ("labels", "links")
    _supports = ("signed", "new")

    def __init__(self, n_clusters=8, *, method="guided-kmeans", random_state=None, n_jobs=None, verbose=0):
        self.n_clusters = n_clusters
        self.method = method
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @property
    def _method(self):
        return self.method
