"""Every estimator passes the checks of scikit-learn, except those that cannot hold."""

import os

import pytest
from sklearn.base import is_clusterer
from sklearn.utils.estimator_checks import check_estimator

import partwise
from partwise import _methods

NAMES = [*_methods.__all__, "LabelledClusterer"]

# The coefficients of a fit obey labels, graphs or orthogonality, or have signs and scales of their own, or the
# multiplicative updates have not converged; transform minimises the cost alone, for the fitted basis.
DIFFERS = (
    "CCF", "CF", "CFOGL", "CNMF", "DSNMF", "GNMF", "KLCNMF", "L2SNMF", "LCCF", "NTF", "ONMF", "SemiGNMF", "SemiNMF", "TriNMF"
)  # fmt: skip


def expected_failures(e):
    failures = {}
    if type(e).__name__ in DIFFERS:
        for check in ("check_transformer_general", "check_transformer_data_not_an_array"):
            failures[check] = "fit_transform and transform solve different problems"
    if is_clusterer(e) and e.__sklearn_tags__().target_tags.required:
        failures["check_clustering"] = "the check passes no labels"
    if is_clusterer(e) and e.__sklearn_tags__().input_tags.positive_only:
        failures["check_clustering"] = "the check passes negative values, which give edges of negative weight"
    return failures


def instance(name):
    cls = getattr(partwise, name)
    e = cls(3) if issubclass(cls, partwise._base.Clusterer) else cls(2)
    few = 200 if name == "KLNMF" else 20
    return e.set_params(**{k: v for k, v in {"max_iter": few, "random_state": 0}.items() if k in e.get_params()})


# A check starts the program a few times. Every class gets the checks of its interface, and these get all checks: one of
# each kind of basis, data, label and model. PARTWISE_CHECKS=all gives them to all classes.
ALL_CHECKS = {
    "CCF", "GNMF", "KMeans", "KLNMF", "LDA", "LabelledClusterer", "MiniBatchNMF", "NMF", "NTF", "SSKK", "SemiNMF",
    "SpectralClustering", "SymNMF"
}  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_checks(name):
    e = instance(name)
    every = name in ALL_CHECKS or os.environ.get("PARTWISE_CHECKS") == "all"
    expected = expected_failures(e) if every else {}
    failed, unfailed = [], set(expected)
    for result in check_estimator(e, legacy=every, expected_failed_checks=expected, on_fail=None, on_skip=None):
        if result["status"] == "failed":
            failed.append(f"{result['check_name']}: {result['exception']!r}")
        if result["status"] == "xfail":
            unfailed.discard(result["check_name"])
    assert not failed, "\n".join(failed)
    assert not unfailed, "expected failures that pass"
