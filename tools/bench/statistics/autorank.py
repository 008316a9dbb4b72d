"""Judges tables by autorank: a line of JSON each, with the rows' scores of methods, draw by draw."""
import contextlib
import importlib.metadata
import io
import json
import sys
import warnings

import numpy as np
import pandas as pd
from autorank import autorank

warnings.simplefilter("ignore")
print(importlib.metadata.version("autorank"), flush=True)


def marked(scores):
    """Returns which methods autorank tells apart from the one with the best mean in a row."""
    with contextlib.redirect_stdout(io.StringIO()):
        data = pd.DataFrame(scores, columns=[chr(65 + i) for i in range(len(scores[0]))])
        result = autorank(data, alpha=0.05, verbose=False)
    best = data.mean().idxmax()
    if result.pvalue >= result.alpha:
        return best, set()
    if result.posthoc is None or len(data.columns) == 2:
        return best, set(data.columns) - {best}
    ranks = result.rankdf
    if result.cd is not None:  # Nemenyi
        return best, {m for m in data.columns if abs(ranks.meanrank[m] - ranks.meanrank[best]) > result.cd}
    # Tukey's simultaneous intervals, which differ where they do not overlap
    return best, {m for m in data.columns if ranks.ci_upper[m] < ranks.ci_lower[best] or ranks.ci_lower[m] > ranks.ci_upper[best]}


for line in sys.stdin:
    rows = [np.array(r) for r in json.loads(line)]
    best, last = marked(rows[-1])
    share = len(last) / (len(rows[0][0]) - 1) if best == "A" else 0
    found = bool(last) or any(marked(r)[1] for r in rows[:-1])
    print(json.dumps({"any": found, "marked": share}), flush=True)
