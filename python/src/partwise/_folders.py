"""Commands that work on folders: features of images, groups of photos, and experiments."""

import base64
import html
import json
import mimetypes
import os
import re
import shutil
import tempfile
import weakref

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.exceptions import NotFittedError

from . import _program
from ._base import seed_of

_LIMIT = 64 << 20  # bytes of the files of a page that a notebook gets


class Results:
    """A folder of results with a page, which a notebook shows.

    Attributes
    ----------
    folder : str
        The folder of the results. Without out it is a temporary folder, removed when this object is.
    page : str
        The path of the page.
    text : str
        What the program printed.
    """

    def __init__(self, out):
        if out is None:
            temporary = tempfile.mkdtemp(prefix="partwise-")
            weakref.finalize(self, shutil.rmtree, temporary, ignore_errors=True)
            out = os.path.join(temporary, "results")
        self.folder, self.text = os.fspath(out), ""

    @property
    def page(self):
        return os.path.join(self.folder, "index.html")

    def _frame(self, name):
        import pandas as pd

        return pd.read_csv(os.path.join(self.folder, name))

    def __repr__(self):
        return f"{type(self).__name__}({self.folder!r})"

    def _repr_html_(self):
        """Return the page in a frame, with its pictures and scripts."""
        with open(self.page, encoding="utf-8") as file:
            page = file.read()
        files, size = {}, 0
        for name in dict.fromkeys(re.findall(r'<(?:img|script)\b[^>]*\bsrc="([^":]+)"', page)):
            path = os.path.join(self.folder, *html.unescape(name).split("/"))
            size += os.path.getsize(path) if os.path.exists(path) else _LIMIT + 1
            if size > _LIMIT:
                return f'<p>Open the page in a browser: <a href="{html.escape(self.page)}">{html.escape(self.page)}</a></p>'
            with open(path, "rb") as file:
                kind = mimetypes.guess_type(path)[0]
                files[html.unescape(name)] = f"data:{kind};base64,{base64.b64encode(file.read()).decode()}"
        # A frame has no folder. Scripts become part of the page; one picture may be in it a thousand times.
        page = re.sub(r'(<script\b[^>]*\bsrc=")([^":]+)"', lambda m: m[1] + files.pop(html.unescape(m[2])) + '"', page)
        allowed = "default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'unsafe-inline' data:"
        page = re.sub(r'(Content-Security-Policy" content=")[^"]*', lambda m: m[1] + allowed, page)
        page = page.replace("<head>", "<head><script>" + _PICTURES.replace("FILES", json.dumps(files)) + "</script>", 1)
        return f'<iframe sandbox="allow-scripts allow-popups" width="100%" height="700" srcdoc="{html.escape(page)}"></iframe>'


_PICTURES = """{
  const files = FILES;
  const fill = (node) => {
    const to = node.tagName === "IMG" && files[node.getAttribute("src")];
    if (to) node.src = to;
  };
  new MutationObserver((changes) => changes.forEach((c) => {
    fill(c.target);
    c.addedNodes.forEach((node) => { fill(node); node.querySelectorAll?.("img").forEach(fill); });
  })).observe(document, {subtree: true, childList: true, attributes: true, attributeFilter: ["src"]});
}"""


class Clustering(Results):
    """The groups of a folder of photos or of vectors."""

    @property
    def assignments(self):
        """A data frame: the file, group, class and confidence of each sample."""
        return self._frame("assignments.csv")


class Experiment(Results):
    """The results of an experiment."""

    @property
    def trials(self):
        """A data frame with one row for each trial: classes, rank, repeat, method and scores."""
        import pandas as pd

        frames = []
        for folder, _, names in sorted(os.walk(self.folder)):
            if "results.jsonl" in names:
                with open(os.path.join(folder, "results.jsonl"), encoding="utf-8") as file:
                    trials = [json.loads(line) for line in file]
                for trial in trials:
                    trial.update(trial.pop("scores", {}))
                    trial.pop("curve", None)
                frame = pd.DataFrame(trials)
                if folder != self.folder:
                    frame.insert(0, "set", os.path.relpath(folder, self.folder))
                frames.append(frame)
        return pd.concat(frames, ignore_index=True)


def _flags(options):
    """Return options of Python as flags of the program."""
    args = []
    for name, value in options.items():
        flag = ("-" if len(name) == 1 else "--") + name.replace("_", "-")
        if value is None or value is False:
            continue
        for v in value if isinstance(value, (list, tuple)) else [value]:
            args += [flag] if v is True else [flag, v]
    return args


def cluster(folder, k=None, *, out=None, random_state=None, n_jobs=None, verbose=0, **options):
    """Group the photos of a folder, or vectors, by similarity.

    Parameters
    ----------
    folder : str or array
        A folder of photos, a file of vectors, the name of a known set, or an array or sparse matrix of samples.
    k : int or str, optional
        The number of groups, a range such as "5..30" or "auto".
    out : str, optional
        The folder of the results.
    **options
        Other flags of `partwise cluster`, as in method="gnmf", labels="labels.csv", features="sift+colour".

    Returns
    -------
    Clustering
    """
    result = Clustering(out)
    with _program.Folder(getattr(folder, "nbytes", 0)) as temporary:
        data = folder if isinstance(folder, (str, os.PathLike)) else temporary.put(folder if hasattr(folder, "tocsr") else np.asarray(folder))
        args = _flags({"k": k, "seed": None if random_state is None else seed_of(random_state), **options})
        result.text = _program.run("cluster", data, *args, "--out", result.folder, verbose=verbose, n_jobs=n_jobs)
    return result


def experiment(settings, *, out=None, n_jobs=None, verbose=0, **options):
    """Run an experiment that compares methods.

    Parameters
    ----------
    settings : str or dict
        The path of an experiment file, or its content.
    out : str, optional
        The folder of the results. A second call with the same folder resumes or extends the experiment.
    **options
        Other flags of `partwise run`, as in repeats=20.

    Returns
    -------
    Experiment
    """
    result = Experiment(out)
    with _program.Folder() as temporary:
        if isinstance(settings, dict):  # JSON is YAML; a path in it is from the current folder
            plain = lambda v: os.fspath(v) if isinstance(v, os.PathLike) else np.asarray(v).tolist()  # noqa: E731
            settings = temporary.write("experiment.yaml", json.dumps(settings, default=plain))
        args = _flags(options)
        result.text = _program.run("run", settings, *args, "--out", result.folder, verbose=verbose, n_jobs=n_jobs)
    return result


class ImageFeatures(TransformerMixin, BaseEstimator):
    """Features of images: transform takes a folder or a list of paths and returns an array.

    Parameters
    ----------
    features : str, default "network=lite0"
        The features, such as "pixels=32", "hog" or "sift=dense,words=200+colour"; see `partwise list features`.
    random_state : int, RandomState or None
        Seed of the random numbers, for visual words.
    n_jobs, verbose
        As in the other estimators.

    Attributes
    ----------
    names_ : list of str
        The names of the images of the last call, in the order of the rows.
    """

    def __init__(self, features="network=lite0", *, random_state=None, n_jobs=None, verbose=0):
        self.features = features
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array, tags.input_tags.string = False, True
        tags.requires_fit = False
        tags.no_validation = True
        return tags

    def fit(self, X=None, y=None):
        """Do nothing: only VisualWords learns."""
        return self

    def transform(self, X):
        """Return the features of the images, an array of shape (n_images, n_features)."""
        return self._features(X)

    def _features(self, X, *args):
        with _program.Folder() as folder:
            data, order = X, None
            if not isinstance(X, (str, os.PathLike)):
                data, order = folder.path("images"), [os.fspath(p) for p in np.asarray(X, object).ravel()]
                os.mkdir(data)
                for i, path in enumerate(order):
                    place = os.path.join(data, f"{i:09d}{os.path.splitext(path)[1]}")
                    if not os.path.exists(path):
                        raise FileNotFoundError(path)
                    try:
                        os.link(path, place)
                    except OSError:
                        shutil.copyfile(path, place)
            out = folder.path("features.npz")
            seed = [] if self.random_state is None else ["--seed", seed_of(self.random_state)]
            _program.run("features", data, "--features", self._settings(folder), *args, *seed, "--no-classes", "--strict", "--out", out,
                         verbose=self.verbose, n_jobs=self.n_jobs)  # fmt: skip
            arrays = _program.load(out)
            self.names_ = order or arrays["names"].tolist()
            if args:
                self.words_ = _program.load(args[1])
        if "fea" in arrays:
            return arrays["fea"]
        from scipy import sparse

        return sparse.csr_matrix((arrays["data"], arrays["indices"], arrays["indptr"]), shape=arrays["shape"])

    def _settings(self, folder):
        return self.features


class VisualWords(ImageFeatures):
    """Histograms of visual words, which fit learns from the images.

    Parameters
    ----------
    features : str, default "sift=dense"
        The local descriptors.
    n_words : int, default 200
        The number of visual words.
    random_state : int, RandomState or None
        Seed of the random numbers.
    n_jobs, verbose
        As in the other estimators.

    Attributes
    ----------
    words_ : dict of arrays
        The file of the visual words.
    names_ : list of str
        The names of the images of the last call, in the order of the rows.
    """

    def __init__(self, features="sift=dense", n_words=200, *, random_state=None, n_jobs=None, verbose=0):
        super().__init__(features, random_state=random_state, n_jobs=n_jobs, verbose=verbose)
        self.n_words = n_words

    def fit(self, X, y=None):
        """Learn the visual words of the images."""
        self.fit_transform(X)
        return self

    def fit_transform(self, X, y=None):
        """Learn the visual words of the images and return the histograms."""
        self.__dict__.pop("words_", None)
        with _program.Folder() as folder:
            return self._features(X, "--words", folder.path("words.npz"))

    def transform(self, X):
        """Return the histograms of the learned words, an array of shape (n_images, n_words)."""
        if not hasattr(self, "words_"):
            raise NotFittedError(f"{type(self).__name__} has no visual words: call fit first")
        return self._features(X)

    def _settings(self, folder):
        if not hasattr(self, "words_"):
            return f"{self.features},words={self.n_words}"
        np.savez(folder.path("words.npz"), **self.words_)
        return f"{self.features},words={{from: {folder.path('words.npz')}}}"
