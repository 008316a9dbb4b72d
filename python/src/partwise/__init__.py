"""Matrix factorisation and clustering by the program partwise, as estimators of scikit-learn."""

from . import _methods
from ._base import LabelledClusterer
from ._folders import Clustering, Experiment, ImageFeatures, VisualWords, cluster, experiment
from ._methods import *  # noqa: F403

__all__ = [
    *_methods.__all__,
    "Clustering",
    "Experiment",
    "ImageFeatures",
    "LabelledClusterer",
    "VisualWords",
    "cluster",
    "experiment",
]


def __getattr__(name):
    if name != "__version__":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib.metadata import version

    return version(__name__)
