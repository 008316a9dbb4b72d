"""Writes src/partwise/_methods.py from `partwise methods --json` and `partwise list clusterers --json`.

    PARTWISE_BINARY=../partwise python generate.py
"""

import json
import keyword
import pathlib
import sys
import textwrap

HERE = pathlib.Path(__file__).parent
OUT = HERE / "src/partwise/_methods.py"

# The names of the classes; a method that is missing here is an error.
NAMES = {
    "nmf": "NMF", "nmf-kl": "KLNMF", "nmf-ncw": "NCWNMF", "gnmf": "GNMF", "semi-gnmf": "SemiGNMF", "cnmf": "CNMF",
    "cnmf-kl": "KLCNMF", "l2-snmf": "L2SNMF", "d-snmf": "DSNMF", "ntf": "NTF", "semi-nmf": "SemiNMF", "onmf": "ONMF",
    "tri-nmf": "TriNMF", "cf": "CF", "lccf": "LCCF", "ccf": "CCF", "cf-ogl": "CFOGL", "eccf": "ECCF", "ss-nmf": "SSNMF",
    "sym-nmf": "SymNMF", "sparse-coding": "SparseCoding", "pca": "PCA", "lda": "LDA", "mfa": "MFA", "sda": "SDA",
    "parts": "Parts", "constrained-kmeans": "ConstrainedKMeans", "cop-kmeans": "COPKMeans",
    "guided-kmeans": "GuidedKMeans", "harmonic": "Harmonic", "kernel-kmeans": "KernelKMeans", "kmeans": "KMeans", "logistic": "Logistic",
    "label-spreading": "LabelSpreading", "ncut": "SpectralClustering", "nearest-labelled": "NearestLabelled",
    "propagated-kmeans": "PropagatedKMeans", "seeded-kmeans": "SeededKMeans", "self-training": "SelfTraining",
    "ss-kk": "SSKK", "ss-snc": "SSSNC",
}  # fmt: skip
SKIPPED = {"original", "largest"}  # no estimators: the features themselves, and the largest coefficient

# The algorithm that serves without labels and links.
WITHOUT = {"constrained-kmeans": "kmeans", "cop-kmeans": "kmeans", "seeded-kmeans": "kmeans", "ss-kk": "kernel-kmeans", "ss-snc": "ncut"}
UNSIGNED = {"ncut", "ss-snc"}  # they cut graphs whose weights are inner products
CLUSTER = {"distance", "start", "refine", "restarts"}  # the settings of --cluster

# scikit-learn's names of settings.
RENAMED = {"restarts": "n_init", "start": "init", "neighbours": "n_neighbors"}
SHARED = {"init", "restarts"}  # beside solver, iterations, tolerance and fixed-basis
SPECIAL = {
    "n_components": (10, 'int or "auto": the number of basis vectors'),
    "n_clusters": (8, 'int or "auto": the number of clusters'),
    "solver": ("best", "{solvers}; best is fast where it serves the method"),
    "max_iter": (200, "int: maximum number of iterations"),
    "tol": (None, "float: stop when an iteration reduces the objective by less than this fraction; None is 1e-5 with solver fast, else 0"),
    "fixed_components": (None, "array of shape (n, n_features): the first components, which stay as they are"),
    "batch_size": (1000, "int: number of samples of a batch"),
    "image_shape": (None, "(height, width) of the images in the rows of X; None is (n_features, 1)"),
    "random_state": (None, "int, RandomState or None: seed of the random numbers"),
    "n_jobs": (None, "int: number of threads, -1 for all cores; None is the share of the process in joblib, else all cores"),
    "verbose": (0, "int: 1 shows the progress"),
}


def parameter(name):
    name = RENAMED.get(name, name).replace("-", "_")
    return name + "_" if keyword.iskeyword(name) else name


def default_of(setting):
    """Return the default as a Python value; None if only the program knows it."""
    text = setting.get("default", "")
    if setting["type"] == "choice":
        return text or None
    try:
        value = json.loads(text)
    except ValueError:
        return None
    return value if isinstance(value, (bool, int, float)) else None


def lines(text, indent, first=""):
    return textwrap.fill(" ".join(text.split()), 116, initial_indent=indent + first, subsequent_indent=indent)


def describe(name, setting):
    more = [", ".join(setting.get("choices", [])), setting.get("range", "")]
    if setting.get("default"):
        more.append("default " + setting["default"])
    more = "; ".join(m for m in more if m)
    return setting["help"] + (f" ({more})" if more else "")


def estimator(name, entry, base, settings, special, extra=()):
    """Return the source of a class."""
    own = {parameter(s["name"]): s for s in settings}
    own = {p: s for p, s in own.items() if p not in special}
    rank = special[0]
    texts = {p: SPECIAL[p][1] for p in special}
    if "solver" in texts:
        texts["solver"] = texts["solver"].format(solvers="best, " + ", ".join(entry["solvers"]))
    defaults = {p: SPECIAL[p][0] for p in special}
    for p, s in own.items():
        defaults[p], texts[p] = default_of(s), describe(p, s)
        if p == "init" and base in ("Factorisation", "Transformer"):
            texts[p] = texts[p].replace("nmf; default", "nmf, custom with W or H of fit; default")
    order = [rank, *own, *[p for p in special if p != rank]]
    facts = entry.get("facts", {})
    doc = [f'    """{entry["title"][0].upper() + entry["title"][1:]}.', ""]
    for key, label in (("minimises", "Minimises "), ("updates", "Updates: "), ("parts", "Parts: "), ("data", "Data: "), ("paper", "Paper: ")):
        if facts.get(key):
            doc += [lines(label + facts[key] + ".", "    "), ""]
    doc += ["    Parameters", "    ----------"]
    for p in order:
        doc += [f"    {p} : default {defaults[p]!r}", lines(texts[p] + ".", "        ")]
    doc += ["", "    Attributes", "    ----------"]
    if base in ("Factorisation", "Transformer"):
        doc += ["    components_ : array of shape (n_components, n_features)", "        The basis vectors Uᵀ, where the method has any."]
        if "max_iter" in special:
            doc += ["    reconstruction_err_ : float", "        √(objective without penalties); √(2·objective) for a divergence.",
                    "    objective_ : array", "        The objective at the start and after each iteration.", "    n_iter_ : int"]
    else:
        doc += ["    labels_ : array of shape (n_samples,)", "        The cluster of each sample.",
                "    cluster_centers_ : array of shape (n_clusters, n_features)", "        The means of the clusters, of features that are not propagated.",
                "    inertia_ : float", "        The sum of squared distances to the centres."]
    doc += ["    n_features_in_ : int", "    feature_names_in_ : array, if X has names", '    """']
    doc = "\n".join(doc).replace("\\", "\\\\")
    names = {p: s["name"] for p, s in own.items()}
    body = [f"class {name}({base}):", doc, "", f'    _method = "{entry["name"]}"']
    if names:
        body.append(f"    _settings = {json.dumps(names)}")
    for key in ("needs", "supports"):
        if entry.get(key):
            body.append(f"    _{key} = {tuple(entry[key])!r}".replace("'", '"'))
    body += [f"    {line}" for line in extra]
    arguments = [p + "=" + (json.dumps(defaults[p]) if isinstance(defaults[p], str) else repr(defaults[p])) for p in order]
    body += ["", "    def __init__(", "        self,", f"        {arguments[0]},", "        *,", *[f"        {a}," for a in arguments[1:]], "    ):"]
    body += [f"        self.{p} = {p}" for p in order]
    return "\n".join(body) + "\n"


def source(methods, clusterers):
    """Return the text of _methods.py for the lists of the program."""
    settings = {e["name"]: [s for s in e.get("settings", []) if s["name"] in CLUSTER] for e in clusterers["entries"]}
    classes = []
    for entry in methods["entries"]:
        if entry["name"] in SKIPPED:
            continue
        name = NAMES[entry["name"]]
        common = ["random_state", "n_jobs", "verbose"]
        if entry["name"] in settings:
            extra = []
            if entry["name"] in WITHOUT:
                extra.append(f'_without = "{WITHOUT[entry["name"]]}"')
            if entry["name"] in UNSIGNED:
                entry = dict(entry, supports=["new"])
            base = "CentroidClusterer" if entry["name"] == "kmeans" else "Clusterer"
            classes.append(estimator(name, entry, base, settings[entry["name"]], ["n_clusters", *common], extra))
            continue
        shared = {s["name"]: s for s in entry.get("shared", [])}
        special = ["n_components"]
        if entry.get("solvers"):
            special.append("solver")
        special += [p for p, s in (("max_iter", "iterations"), ("tol", "tolerance"), ("fixed_components", "fixed-basis")) if s in shared]
        if "images" in entry.get("needs", []) or entry["name"] == "parts":
            special.append("image_shape")
        own = entry.get("settings", []) + [shared[s] for s in shared if s in SHARED]
        base = "Transformer" if "new" in entry.get("supports", []) else "Factorisation"
        extra = ["_each_class = True"] if entry["name"] == "eccf" else []
        if entry["name"] == "parts":  # tie and penalties choose whether it uses labels or links
            entry = dict(entry, needs=["links"])
        classes.append(estimator(name, entry, base, own, special + common, extra))
        if entry["name"] == "nmf":
            batch = dict(entry, title="NMF learned from batches of samples", supports=["new"])
            own = [s for s in own if s["name"] == "none"]
            classes.append(estimator("MiniBatchNMF", batch, base, own, ["n_components", "batch_size", "max_iter", *common]))
    names = sorted(line.split("(")[0].removeprefix("class ") for c in classes for line in c.split("\n")[:1])
    head = '"""The estimators. Written by generate.py from the lists of the program; do not edit."""\n\n'
    head += "from ._base import CentroidClusterer, Clusterer, Factorisation, Transformer\n\n__all__ = [\n"
    head += "".join(f'    "{n}",\n' for n in names) + "]\n"
    return head + "".join("\n\n" + c for c in classes)


def generated():
    """Return the text for the installed program."""
    sys.path.append(str(HERE / "src"))  # unless the package is installed
    from partwise import _program

    read = lambda *args: json.loads(_program.run(*args, "--json"))  # noqa: E731
    return source(read("methods"), read("list", "clusterers"))


if __name__ == "__main__":
    OUT.touch()
    text = OUT.read_text(encoding="utf-8") if OUT.stat().st_size else ""
    if not text:
        OUT.write_text("__all__ = []\n")
    OUT.write_text(generated(), encoding="utf-8")
