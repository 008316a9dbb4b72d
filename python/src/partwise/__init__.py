"""Matrix factorisation and clustering by the program partwise, as estimators of scikit-learn."""

from ._methods import *  # noqa: F403
from ._methods import __all__

__version__ = "0.1.0"
