"""Every estimator passes the checks of scikit-learn, except those that cannot hold."""

import numpy as np
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

import partwise


def instance(name):
    cls = getattr(partwise, name)
    e = cls(2) if "n_components" in cls().get_params() else cls(3)
    few = {"max_iter": 20, "random_state": 0}
    return e.set_params(**{k: v for k, v in few.items() if k in e.get_params()})


def expected_failures(e):
    return {}


@parametrize_with_checks([instance(n) for n in ["NMF"]], expected_failed_checks=expected_failures)
def test_checks(estimator, check):
    check(estimator)
