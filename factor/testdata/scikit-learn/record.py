"""Writes nmf.json: factors of scikit-learn's NMF(solver="mu") for TestScikitLearn.

    tools/bench/.venv/bin/python factor/testdata/scikit-learn/record.py
"""

import json
import pathlib
import warnings

import numpy as np
from sklearn.decomposition import NMF

warnings.simplefilter("ignore")  # max_iter is reached
n, m, k = 11, 7, 3
draw = np.random.default_rng(31)
x = draw.gamma(2, size=(n, k)) @ draw.gamma(2, size=(k, m)) * draw.uniform(0.5, 1.5, size=(n, m))
u, v = draw.uniform(0.5, 1.5, size=(m, k)), draw.uniform(0.5, 1.5, size=(n, k))


def case(beta, iterations, **penalty):
    # scikit-learn updates its W first, as partwise the basis.
    model = NMF(k, init="custom", solver="mu", beta_loss=beta, max_iter=iterations, tol=0, **penalty)
    w = model.fit_transform(x.T, W=u.copy(), H=v.T.copy())
    return {"beta": beta, "iterations": iterations, **penalty, "u": w.tolist(), "v": model.components_.T.tolist()}


cases = [case(beta, iterations) for beta in (0, 0.5, 1, 1.5, 2, 3) for iterations in (1, 30)]
# With squares, partwise takes a root of the step under other costs than the Frobenius cost.
cases += [case(beta, 30, alpha_W=0.02, alpha_H=0.05, l1_ratio=1) for beta in (0, 1, 1.5, 2, 3)]
cases += [case(2, 30, alpha_W=0.02, alpha_H=0.05, l1_ratio=ratio) for ratio in (0, 0.3)]
data = {"x": x.tolist(), "u": u.tolist(), "v": v.tolist(), "cases": cases}
pathlib.Path(__file__).with_name("nmf.json").write_text(json.dumps(data, indent=None, separators=(",", ":")) + "\n")
