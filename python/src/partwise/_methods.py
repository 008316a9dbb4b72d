"""The estimators. Written by generate.py from the lists of the program; do not edit."""

from ._base import CentroidClusterer, Clusterer, Factorisation, Transformer

__all__ = [
    "CCF",
    "CF",
    "CFOGL",
    "CNMF",
    "COPKMeans",
    "ConstrainedKMeans",
    "DSNMF",
    "ECCF",
    "GNMF",
    "GuidedKMeans",
    "Harmonic",
    "KLCNMF",
    "KLNMF",
    "KMeans",
    "KernelKMeans",
    "L2SNMF",
    "LCCF",
    "LDA",
    "LabelSpreading",
    "Logistic",
    "MFA",
    "MiniBatchNMF",
    "NCWNMF",
    "NMF",
    "NTF",
    "NearestLabelled",
    "ONMF",
    "PCA",
    "Parts",
    "PropagatedKMeans",
    "SDA",
    "SSKK",
    "SSNMF",
    "SSSNC",
    "SeededKMeans",
    "SelfTraining",
    "SemiGNMF",
    "SemiNMF",
    "SparseCoding",
    "SpectralClustering",
    "SymNMF",
    "TriNMF",
]


class NMF(Transformer):
    """Non-negative matrix factorisation.

    Minimises ‖X − UVᵀ‖², or D(X, UVᵀ) with another cost.

    Updates: U ← U∘(XV)/(U·VᵀV), V ← V∘(XᵀU)/(V·UᵀU); with costs is and beta θ ← θ∘ratio^γ(β), γ = 1/(2 − β) below
    1, 1/(β − 1) above 2, else 1.

    Parts: Frobenius cost or another, free basis.

    Data: non-negative values; missing values and weights.

    Paper: Lee and Seung, Algorithms for non-negative matrix factorization, NIPS 2001; Févotte and Idier, Algorithms
    for nonnegative matrix factorization with the β-divergence, Neural Computation 23(9), 2011.

    Parameters
    ----------
    n_components : default 10
        int or "auto": the number of basis vectors.
    cost : default 'frobenius'
        cost: divergence between data and reconstruction (frobenius, kl, is, beta, l21, huber; default frobenius).
    exponent : default 0.5
        exponent β of cost beta (a number from 0 to 4; default 0.5).
    threshold : default None
        threshold δ of cost huber; larger errors count less than their squares (a number from 1e-60 to 1e+60;
        default a tenth of the mean value).
    init : default 'random'
        initialisation of the factors (random, nndsvda, nmf, custom with W or H of fit; default random).
    n_init : default 1
        number of fits from different random factors; the one with the lowest objective is used (a whole number from
        1 to 10000; default 1).
    solver : default 'best'
        best, mu, fast; best is fast where it serves the method.
    max_iter : default 200
        int: maximum number of iterations.
    tol : default None
        float: stop when an iteration reduces the objective by less than this fraction; None is 1e-5 with solver
        fast, else 0.
    fixed_components : default None
        array of shape (n, n_features): the first components, which stay as they are.
    random_state : default None
        int, RandomState or None: seed of the random numbers.
    n_jobs : default None
        int: number of threads, -1 for all cores; None is the share of the process in joblib, else all cores.
    verbose : default 0
        int: 1 shows the progress.

    Attributes
    ----------
    components_ : array of shape (n_components, n_features)
        The basis vectors Uᵀ, where the method has any.
    reconstruction_err_ : float
        √(objective without penalties); √(2·objective) for a divergence.
    objective_ : array
        The objective at the start and after each iteration.
    n_iter_ : int
    n_features_in_ : int
    feature_names_in_ : array, if X has names
    """

    _method = "nmf"
    _settings = {"cost": "cost", "exponent": "exponent", "threshold": "threshold", "init": "init", "n_init": "restarts"}
    _supports = ("missing", "weights", "new")

    def __init__(
        self,
        n_components=10,
        *,
        cost="frobenius",
        exponent=0.5,
        threshold=None,
        init="random",
        n_init=1,
        solver="best",
        max_iter=200,
        tol=None,
        fixed_components=None,
        random_state=None,
        n_jobs=None,
        verbose=0,
    ):
        self.n_components = n_components
        self.cost = cost
        self.exponent = exponent
        self.threshold = threshold
        self.init = init
        self.n_init = n_init
        self.solver = solver
        self.max_iter = max_iter
        self.tol = tol
        self.fixed_components = fixed_components
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose


class MiniBatchNMF(Transformer):
    """NMF learned from batches of samples.

    Minimises ‖X − UVᵀ‖², or D(X, UVᵀ) with another cost.

    Updates: U ← U∘(XV)/(U·VᵀV), V ← V∘(XᵀU)/(V·UᵀU); with costs is and beta θ ← θ∘ratio^γ(β), γ = 1/(2 − β) below
    1, 1/(β − 1) above 2, else 1.

    Parts: Frobenius cost or another, free basis.

    Data: non-negative values; missing values and weights.

    Paper: Lee and Seung, Algorithms for non-negative matrix factorization, NIPS 2001; Févotte and Idier, Algorithms
    for nonnegative matrix factorization with the β-divergence, Neural Computation 23(9), 2011.

    Parameters
    ----------
    n_components : default 10
        int or "auto": the number of basis vectors.
    batch_size : default 1000
        int: number of samples of a batch.
    max_iter : default 200
        int: maximum number of iterations.
    random_state : default None
        int, RandomState or None: seed of the random numbers.
    n_jobs : default None
        int: number of threads, -1 for all cores; None is the share of the process in joblib, else all cores.
    verbose : default 0
        int: 1 shows the progress.

    Attributes
    ----------
    components_ : array of shape (n_components, n_features)
        The basis vectors Uᵀ, where the method has any.
    reconstruction_err_ : float
        √(objective without penalties); √(2·objective) for a divergence.
    objective_ : array
        The objective at the start and after each iteration.
    n_iter_ : int
    n_features_in_ : int
    feature_names_in_ : array, if X has names
    """

    _method = "nmf"
    _supports = ("new",)

    def __init__(
        self,
        n_components=10,
        *,
        batch_size=1000,
        max_iter=200,
        random_state=None,
        n_jobs=None,
        verbose=0,
    ):
        self.n_components = n_components
        self.batch_size = batch_size
        self.max_iter = max_iter
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose


class KLNMF(Transformer):
    """NMF under the Kullback-Leibler divergence.

    Minimises D(X‖UVᵀ) = Σ x·log(x/y) − x + y, Y = UVᵀ.

    Updates: U ← U∘(RV)/(1·1ᵀV), V ← V∘(RᵀU)/(1·1ᵀU), R = X/(UVᵀ) each time.

    Parts: KL cost, free basis.

    Data: non-negative values; missing values and weights.

    Paper: Lee and Seung, Algorithms for non-negative matrix factorization, NIPS 2001.

    Parameters
    ----------
    n_components : default 10
        int or "auto": the number of basis vectors.
    init : default 'random'
        initialisation of the factors (random, nndsvda, nmf, custom with W or H of fit; default random).
    n_init : default 1
        number of fits from different random factors; the one with the lowest objective is used (a whole number from
        1 to 10000; default 1).
    solver : default 'best'
        best, mu, fast; best is fast where it serves the method.
    max_iter : default 200
        int: maximum number of iterations.
    tol : default None
        float: stop when an iteration reduces the objective by less than this fraction; None is 1e-5 with solver
        fast, else 0.
    fixed_components : default None
        array of shape (n, n_features): the first components, which stay as they are.
    random_state : default None
        int, RandomState or None: seed of the random numbers.
    n_jobs : default None
        int: number of threads, -1 for all cores; None is the share of the process in joblib, else all cores.
    verbose : default 0
        int: 1 shows the progress.

    Attributes
    ----------
    components_ : array of shape (n_components, n_features)
        The basis vectors Uᵀ, where the method has any.
    reconstruction_err_ : float
        √(objective without penalties); √(2·objective) for a divergence.
    objective_ : array
        The objective at the start and after each iteration.
    n_iter_ : int
    n_features_in_ : int
    feature_names_in_ : array, if X has names
    """

    _method = "nmf-kl"
    _settings = {"init": "init", "n_init": "restarts"}
    _supports = ("missing", "weights", "new")

    def __init__(
        self,
        n_components=10,
        *,
        init="random",
        n_init=1,
        solver="best",
        max_iter=200,
        tol=None,
        fixed_components=None,
        random_state=None,
        n_jobs=None,
        verbose=0,
    ):
        self.n_components = n_components
        self.init = init
        self.n_init = n_init
        self.solver = solver
        self.max_iter = max_iter
        self.tol = tol
        self.fixed_components = fixed_components
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose


class NCWNMF(Transformer):
    """NMF with normalised-cut weights.

    Minimises Σ γ_i‖x_i − U·v_i‖², γ = 1/(XᵀX·1).

    Updates: as nmf on X·Γ^½, then V is rescaled.

    Parts: Frobenius cost with sample weights, free basis.

    Data: non-negative values; missing values and weights.

    Paper: Xu, Liu and Gong, Document clustering based on non-negative matrix factorization, SIGIR 2003.

    Parameters
    ----------
    n_components : default 10
        int or "auto": the number of basis vectors.
    init : default 'random'
        initialisation of the factors (random, nndsvda, nmf, custom with W or H of fit; default random).
    n_init : default 1
        number of fits from different random factors; the one with the lowest objective is used (a whole number from
        1 to 10000; default 1).
    solver : default 'best'
        best, mu, fast; best is fast where it serves the method.
    max_iter : default 200
        int: maximum number of iterations.
    tol : default None
        float: stop when an iteration reduces the objective by less than this fraction; None is 1e-5 with solver
        fast, else 0.
    fixed_components : default None
        array of shape (n, n_features): the first components, which stay as they are.
    random_state : default None
        int, RandomState or None: seed of the random numbers.
    n_jobs : default None
        int: number of threads, -1 for all cores; None is the share of the process in joblib, else all cores.
    verbose : default 0
        int: 1 shows the progress.

    Attributes
    ----------
    components_ : array of shape (n_components, n_features)
        The basis vectors Uᵀ, where the method has any.
    reconstruction_err_ : float
        √(objective without penalties); √(2·objective) for a divergence.
    objective_ : array
        The objective at the start and after each iteration.
    n_iter_ : int
    n_features_in_ : int
    feature_names_in_ : array, if X has names
    """

    _method = "nmf-ncw"
    _settings = {"init": "init", "n_init": "restarts"}
    _supports = ("missing", "weights", "new")

    def __init__(
        self,
        n_components=10,
        *,
        init="random",
        n_init=1,
        solver="best",
        max_iter=200,
        tol=None,
        fixed_components=None,
        random_state=None,
        n_jobs=None,
        verbose=0,
    ):
        self.n_components = n_components
        self.init = init
        self.n_init = n_init
        self.solver = solver
        self.max_iter = max_iter
        self.tol = tol
        self.fixed_components = fixed_components
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose


class GNMF(Transformer):
    """Graph regularised NMF.

    Minimises ‖X − UVᵀ‖² + λ·tr(VᵀLV).

    Updates: U as nmf; V ← V∘(XᵀU + λSV)/(V·UᵀU + λDV).

    Parts: Frobenius cost, free basis, graph penalty.

    Data: non-negative values; missing values and weights.

    Paper: Cai, He, Han and Huang, Graph regularized nonnegative matrix factorization for data representation, IEEE
    TPAMI 33(8), 2011.

    Parameters
    ----------
    n_components : default 10
        int or "auto": the number of basis vectors.
    lambda_ : default 100
        weight λ of the graph (default 100).
    n_neighbors : default 5
        number of nearest neighbours of each sample (default 5).
    edges : default 'binary'
        edge weights (binary, heat, cosine; default binary).
    width : default None
        width t of the heat kernel exp(-d²/2t²) (default mean distance).
    init : default 'random'
        initialisation of the factors (random, nndsvda, nmf, custom with W or H of fit; default random).
    n_init : default 1
        number of fits from different random factors; the one with the lowest objective is used (a whole number from
        1 to 10000; default 1).
    solver : default 'best'
        best, mu; best is fast where it serves the method.
    max_iter : default 200
        int: maximum number of iterations.
    tol : default None
        float: stop when an iteration reduces the objective by less than this fraction; None is 1e-5 with solver
        fast, else 0.
    fixed_components : default None
        array of shape (n, n_features): the first components, which stay as they are.
    random_state : default None
        int, RandomState or None: seed of the random numbers.
    n_jobs : default None
        int: number of threads, -1 for all cores; None is the share of the process in joblib, else all cores.
    verbose : default 0
        int: 1 shows the progress.

    Attributes
    ----------
    components_ : array of shape (n_components, n_features)
        The basis vectors Uᵀ, where the method has any.
    reconstruction_err_ : float
        √(objective without penalties); √(2·objective) for a divergence.
    objective_ : array
        The objective at the start and after each iteration.
    n_iter_ : int
    n_features_in_ : int
    feature_names_in_ : array, if X has names
    """

    _method = "gnmf"
    _settings = {"lambda_": "lambda", "n_neighbors": "neighbours", "edges": "edges", "width": "width", "init": "init", "n_init": "restarts"}
    _supports = ("missing", "weights", "new")

    def __init__(
        self,
        n_components=10,
        *,
        lambda_=100,
        n_neighbors=5,
        edges="binary",
        width=None,
        init="random",
        n_init=1,
        solver="best",
        max_iter=200,
        tol=None,
        fixed_components=None,
        random_state=None,
        n_jobs=None,
        verbose=0,
    ):
        self.n_components = n_components
        self.lambda_ = lambda_
        self.n_neighbors = n_neighbors
        self.edges = edges
        self.width = width
        self.init = init
        self.n_init = n_init
        self.solver = solver
        self.max_iter = max_iter
        self.tol = tol
        self.fixed_components = fixed_components
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose


class SemiGNMF(Transformer):
    """Graph regularised NMF with labels.

    Minimises ‖X − UVᵀ‖² + λ·tr(VᵀLV), S_ij = 1 for one label, 0 for two.

    Updates: as gnmf.

    Parts: Frobenius cost, free basis, graph penalty with label edges.

    Data: non-negative values; needs some labels; missing values and weights.

    Paper: Cai, He, Han and Huang, Graph regularized nonnegative matrix factorization for data representation, IEEE
    TPAMI 33(8), 2011.

    Parameters
    ----------
    n_components : default 10
        int or "auto": the number of basis vectors.
    lambda_ : default 100
        weight λ of the graph (default 100).
    n_neighbors : default 5
        number of nearest neighbours of each sample (default 5).
    edges : default 'binary'
        edge weights (binary, heat, cosine; default binary).
    width : default None
        width t of the heat kernel exp(-d²/2t²) (default mean distance).
    init : default 'random'
        initialisation of the factors (random, nndsvda, nmf, custom with W or H of fit; default random).
    n_init : default 1
        number of fits from different random factors; the one with the lowest objective is used (a whole number from
        1 to 10000; default 1).
    solver : default 'best'
        best, mu; best is fast where it serves the method.
    max_iter : default 200
        int: maximum number of iterations.
    tol : default None
        float: stop when an iteration reduces the objective by less than this fraction; None is 1e-5 with solver
        fast, else 0.
    fixed_components : default None
        array of shape (n, n_features): the first components, which stay as they are.
    random_state : default None
        int, RandomState or None: seed of the random numbers.
    n_jobs : default None
        int: number of threads, -1 for all cores; None is the share of the process in joblib, else all cores.
    verbose : default 0
        int: 1 shows the progress.

    Attributes
    ----------
    components_ : array of shape (n_components, n_features)
        The basis vectors Uᵀ, where the method has any.
    reconstruction_err_ : float
        √(objective without penalties); √(2·objective) for a divergence.
    objective_ : array
        The objective at the start and after each iteration.
    n_iter_ : int
    n_features_in_ : int
    feature_names_in_ : array, if X has names
    """

    _method = "semi-gnmf"
    _settings = {"lambda_": "lambda", "n_neighbors": "neighbours", "edges": "edges", "width": "width", "init": "init", "n_init": "restarts"}
    _needs = ("labels",)
    _supports = ("missing", "weights", "new")

    def __init__(
        self,
        n_components=10,
        *,
        lambda_=100,
        n_neighbors=5,
        edges="binary",
        width=None,
        init="random",
        n_init=1,
        solver="best",
        max_iter=200,
        tol=None,
        fixed_components=None,
        random_state=None,
        n_jobs=None,
        verbose=0,
    ):
        self.n_components = n_components
        self.lambda_ = lambda_
        self.n_neighbors = n_neighbors
        self.edges = edges
        self.width = width
        self.init = init
        self.n_init = n_init
        self.solver = solver
        self.max_iter = max_iter
        self.tol = tol
        self.fixed_components = fixed_components
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose


class CNMF(Transformer):
    """Constrained NMF.

    Minimises ‖X − U(AZ)ᵀ‖².

    Updates: U as nmf with V = AZ; Z ← Z∘(AᵀXᵀU)/(AᵀA·Z·UᵀU).

    Parts: Frobenius cost, free basis, label ties.

    Data: non-negative values; needs some labels; missing values and weights.

    Paper: Liu, Wu, Li, Cai and Huang, Constrained nonnegative matrix factorization for image representation, IEEE
    TPAMI 34(7), 2012.

    Parameters
    ----------
    n_components : default 10
        int or "auto": the number of basis vectors.
    init : default 'random'
        initialisation of the factors (random, nndsvda, nmf, custom with W or H of fit; default random).
    n_init : default 1
        number of fits from different random factors; the one with the lowest objective is used (a whole number from
        1 to 10000; default 1).
    solver : default 'best'
        best, mu, fast; best is fast where it serves the method.
    max_iter : default 200
        int: maximum number of iterations.
    tol : default None
        float: stop when an iteration reduces the objective by less than this fraction; None is 1e-5 with solver
        fast, else 0.
    fixed_components : default None
        array of shape (n, n_features): the first components, which stay as they are.
    random_state : default None
        int, RandomState or None: seed of the random numbers.
    n_jobs : default None
        int: number of threads, -1 for all cores; None is the share of the process in joblib, else all cores.
    verbose : default 0
        int: 1 shows the progress.

    Attributes
    ----------
    components_ : array of shape (n_components, n_features)
        The basis vectors Uᵀ, where the method has any.
    reconstruction_err_ : float
        √(objective without penalties); √(2·objective) for a divergence.
    objective_ : array
        The objective at the start and after each iteration.
    n_iter_ : int
    n_features_in_ : int
    feature_names_in_ : array, if X has names
    """

    _method = "cnmf"
    _settings = {"init": "init", "n_init": "restarts"}
    _needs = ("labels",)
    _supports = ("missing", "weights", "new")

    def __init__(
        self,
        n_components=10,
        *,
        init="random",
        n_init=1,
        solver="best",
        max_iter=200,
        tol=None,
        fixed_components=None,
        random_state=None,
        n_jobs=None,
        verbose=0,
    ):
        self.n_components = n_components
        self.init = init
        self.n_init = n_init
        self.solver = solver
        self.max_iter = max_iter
        self.tol = tol
        self.fixed_components = fixed_components
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose


class KLCNMF(Transformer):
    """Constrained NMF under the Kullback-Leibler divergence.

    Minimises D(X‖U(AZ)ᵀ).

    Updates: U as nmf-kl with V = AZ; Z ← Z∘(AᵀRᵀU)/(c·1ᵀU), c = diag(AᵀA).

    Parts: KL cost, free basis, label ties.

    Data: non-negative values; needs some labels; missing values and weights.

    Paper: Liu, Wu, Li, Cai and Huang, Constrained nonnegative matrix factorization for image representation, IEEE
    TPAMI 34(7), 2012, section 5.

    Parameters
    ----------
    n_components : default 10
        int or "auto": the number of basis vectors.
    init : default 'random'
        initialisation of the factors (random, nndsvda, nmf, custom with W or H of fit; default random).
    n_init : default 1
        number of fits from different random factors; the one with the lowest objective is used (a whole number from
        1 to 10000; default 1).
    solver : default 'best'
        best, mu, fast; best is fast where it serves the method.
    max_iter : default 200
        int: maximum number of iterations.
    tol : default None
        float: stop when an iteration reduces the objective by less than this fraction; None is 1e-5 with solver
        fast, else 0.
    fixed_components : default None
        array of shape (n, n_features): the first components, which stay as they are.
    random_state : default None
        int, RandomState or None: seed of the random numbers.
    n_jobs : default None
        int: number of threads, -1 for all cores; None is the share of the process in joblib, else all cores.
    verbose : default 0
        int: 1 shows the progress.

    Attributes
    ----------
    components_ : array of shape (n_components, n_features)
        The basis vectors Uᵀ, where the method has any.
    reconstruction_err_ : float
        √(objective without penalties); √(2·objective) for a divergence.
    objective_ : array
        The objective at the start and after each iteration.
    n_iter_ : int
    n_features_in_ : int
    feature_names_in_ : array, if X has names
    """

    _method = "cnmf-kl"
    _settings = {"init": "init", "n_init": "restarts"}
    _needs = ("labels",)
    _supports = ("missing", "weights", "new")

    def __init__(
        self,
        n_components=10,
        *,
        init="random",
        n_init=1,
        solver="best",
        max_iter=200,
        tol=None,
        fixed_components=None,
        random_state=None,
        n_jobs=None,
        verbose=0,
    ):
        self.n_components = n_components
        self.init = init
        self.n_init = n_init
        self.solver = solver
        self.max_iter = max_iter
        self.tol = tol
        self.fixed_components = fixed_components
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose


class L2SNMF(Transformer):
    """Supervised NMF.

    Minimises ‖X − UVᵀ‖² + tr(VᵀCV), ‖u_r‖ = 1, C_ij < 0 for must-links, > 0 for cannot-links.

    Updates: U as nmf, then to unit norm; V ← V∘√[(XᵀU + C⁻V)/(V·UᵀU + C⁺V)].

    Parts: Frobenius cost, free basis of unit norm, link penalty.

    Data: non-negative values; needs some labels; missing values and weights.

    Paper: Ambai, Utama and Yoshida, Dimensionality reduction for histogram features based on supervised non-
    negative matrix factorization, IEICE Trans. E94-D(10), 2011.

    Parameters
    ----------
    n_components : default 10
        int or "auto": the number of basis vectors.
    must : default 0.005
        weight of a must-link, −C_ij (default 0.005).
    cannot : default 0.005
        weight of a cannot-link, C_ij (default 0.005).
    init : default 'random'
        initialisation of the factors (random, nndsvda, nmf, custom with W or H of fit; default random).
    n_init : default 1
        number of fits from different random factors; the one with the lowest objective is used (a whole number from
        1 to 10000; default 1).
    solver : default 'best'
        best, mu, fast; best is fast where it serves the method.
    max_iter : default 200
        int: maximum number of iterations.
    tol : default None
        float: stop when an iteration reduces the objective by less than this fraction; None is 1e-5 with solver
        fast, else 0.
    fixed_components : default None
        array of shape (n, n_features): the first components, which stay as they are.
    random_state : default None
        int, RandomState or None: seed of the random numbers.
    n_jobs : default None
        int: number of threads, -1 for all cores; None is the share of the process in joblib, else all cores.
    verbose : default 0
        int: 1 shows the progress.

    Attributes
    ----------
    components_ : array of shape (n_components, n_features)
        The basis vectors Uᵀ, where the method has any.
    reconstruction_err_ : float
        √(objective without penalties); √(2·objective) for a divergence.
    objective_ : array
        The objective at the start and after each iteration.
    n_iter_ : int
    n_features_in_ : int
    feature_names_in_ : array, if X has names
    """

    _method = "l2-snmf"
    _settings = {"must": "must", "cannot": "cannot", "init": "init", "n_init": "restarts"}
    _needs = ("labels", "links")
    _supports = ("missing", "weights", "new")

    def __init__(
        self,
        n_components=10,
        *,
        must=0.005,
        cannot=0.005,
        init="random",
        n_init=1,
        solver="best",
        max_iter=200,
        tol=None,
        fixed_components=None,
        random_state=None,
        n_jobs=None,
        verbose=0,
    ):
        self.n_components = n_components
        self.must = must
        self.cannot = cannot
        self.init = init
        self.n_init = n_init
        self.solver = solver
        self.max_iter = max_iter
        self.tol = tol
        self.fixed_components = fixed_components
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose


class DSNMF(Transformer):
    """Supervised NMF under the Kullback-Leibler divergence.

    Minimises D(X‖UVᵀ) + tr(VᵀCV), ‖u_r‖ = 1, C_ij < 0 for must-links, > 0 for cannot-links.

    Updates: U as nmf-kl, then to unit norm; V ← V∘√[(RᵀU + 2C⁻V)/(1·1ᵀU + 2C⁺V)].

    Parts: KL cost, free basis of unit norm, link penalty.

    Data: non-negative values; needs some labels; missing values and weights.

    Paper: Ambai, Utama and Yoshida, Dimensionality reduction for histogram features based on supervised non-
    negative matrix factorization, IEICE Trans. E94-D(10), 2011.

    Parameters
    ----------
    n_components : default 10
        int or "auto": the number of basis vectors.
    must : default 0.005
        weight of a must-link, −C_ij (default 0.005).
    cannot : default 1
        weight of a cannot-link, C_ij (default 1).
    init : default 'random'
        initialisation of the factors (random, nndsvda, nmf, custom with W or H of fit; default random).
    n_init : default 1
        number of fits from different random factors; the one with the lowest objective is used (a whole number from
        1 to 10000; default 1).
    solver : default 'best'
        best, mu; best is fast where it serves the method.
    max_iter : default 200
        int: maximum number of iterations.
    tol : default None
        float: stop when an iteration reduces the objective by less than this fraction; None is 1e-5 with solver
        fast, else 0.
    fixed_components : default None
        array of shape (n, n_features): the first components, which stay as they are.
    random_state : default None
        int, RandomState or None: seed of the random numbers.
    n_jobs : default None
        int: number of threads, -1 for all cores; None is the share of the process in joblib, else all cores.
    verbose : default 0
        int: 1 shows the progress.

    Attributes
    ----------
    components_ : array of shape (n_components, n_features)
        The basis vectors Uᵀ, where the method has any.
    reconstruction_err_ : float
        √(objective without penalties); √(2·objective) for a divergence.
    objective_ : array
        The objective at the start and after each iteration.
    n_iter_ : int
    n_features_in_ : int
    feature_names_in_ : array, if X has names
    """

    _method = "d-snmf"
    _settings = {"must": "must", "cannot": "cannot", "init": "init", "n_init": "restarts"}
    _needs = ("labels", "links")
    _supports = ("missing", "weights", "new")

    def __init__(
        self,
        n_components=10,
        *,
        must=0.005,
        cannot=1,
        init="random",
        n_init=1,
        solver="best",
        max_iter=200,
        tol=None,
        fixed_components=None,
        random_state=None,
        n_jobs=None,
        verbose=0,
    ):
        self.n_components = n_components
        self.must = must
        self.cannot = cannot
        self.init = init
        self.n_init = n_init
        self.solver = solver
        self.max_iter = max_iter
        self.tol = tol
        self.fixed_components = fixed_components
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose


class NTF(Transformer):
    """Non-negative tensor factorisation.

    Minimises Σ_i ‖X_i − Σ_r v_ir·a_r·b_rᵀ‖², image i is h×w.

    Updates: A, B and V in turn, each θ ← θ∘(negative part)/(positive part).

    Parts: Frobenius cost, basis of rank-one images.

    Data: non-negative values; missing values and weights.

    Paper: Shashua and Hazan, Non-negative tensor factorization with applications to statistics and computer vision,
    ICML 2005.

    Parameters
    ----------
    n_components : default 10
        int or "auto": the number of basis vectors.
    init : default 'random'
        initialisation of the factors (random, nndsvda, nmf, custom with W or H of fit; default random).
    n_init : default 1
        number of fits from different random factors; the one with the lowest objective is used (a whole number from
        1 to 10000; default 1).
    solver : default 'best'
        best, mu; best is fast where it serves the method.
    max_iter : default 200
        int: maximum number of iterations.
    tol : default None
        float: stop when an iteration reduces the objective by less than this fraction; None is 1e-5 with solver
        fast, else 0.
    fixed_components : default None
        array of shape (n, n_features): the first components, which stay as they are.
    image_shape : default None
        (height, width) of the images in the rows of X; None is (n_features, 1).
    random_state : default None
        int, RandomState or None: seed of the random numbers.
    n_jobs : default None
        int: number of threads, -1 for all cores; None is the share of the process in joblib, else all cores.
    verbose : default 0
        int: 1 shows the progress.

    Attributes
    ----------
    components_ : array of shape (n_components, n_features)
        The basis vectors Uᵀ, where the method has any.
    reconstruction_err_ : float
        √(objective without penalties); √(2·objective) for a divergence.
    objective_ : array
        The objective at the start and after each iteration.
    n_iter_ : int
    n_features_in_ : int
    feature_names_in_ : array, if X has names
    """

    _method = "ntf"
    _settings = {"init": "init", "n_init": "restarts"}
    _needs = ("images",)
    _supports = ("missing", "weights", "new")

    def __init__(
        self,
        n_components=10,
        *,
        init="random",
        n_init=1,
        solver="best",
        max_iter=200,
        tol=None,
        fixed_components=None,
        image_shape=None,
        random_state=None,
        n_jobs=None,
        verbose=0,
    ):
        self.n_components = n_components
        self.init = init
        self.n_init = n_init
        self.solver = solver
        self.max_iter = max_iter
        self.tol = tol
        self.fixed_components = fixed_components
        self.image_shape = image_shape
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose


class SemiNMF(Transformer):
    """Semi-NMF.

    Minimises ‖X − UVᵀ‖², V ≥ 0.

    Updates: U ← XV(VᵀV)⁻¹; V ← V∘√[((XᵀU)⁺ + V(UᵀU)⁻)/((XᵀU)⁻ + V(UᵀU)⁺)], A = A⁺ − A⁻.

    Parts: Frobenius cost, basis of any sign.

    Data: values of any sign; missing values and weights.

    Paper: Ding, Li and Jordan, Convex and semi-nonnegative matrix factorizations, IEEE TPAMI 32(1), 2010.

    Parameters
    ----------
    n_components : default 10
        int or "auto": the number of basis vectors.
    init : default 'random'
        initialisation of the factors (random, nndsvda, nmf, custom with W or H of fit; default random).
    n_init : default 1
        number of fits from different random factors; the one with the lowest objective is used (a whole number from
        1 to 10000; default 1).
    solver : default 'best'
        best, mu, fast; best is fast where it serves the method.
    max_iter : default 200
        int: maximum number of iterations.
    tol : default None
        float: stop when an iteration reduces the objective by less than this fraction; None is 1e-5 with solver
        fast, else 0.
    fixed_components : default None
        array of shape (n, n_features): the first components, which stay as they are.
    random_state : default None
        int, RandomState or None: seed of the random numbers.
    n_jobs : default None
        int: number of threads, -1 for all cores; None is the share of the process in joblib, else all cores.
    verbose : default 0
        int: 1 shows the progress.

    Attributes
    ----------
    components_ : array of shape (n_components, n_features)
        The basis vectors Uᵀ, where the method has any.
    reconstruction_err_ : float
        √(objective without penalties); √(2·objective) for a divergence.
    objective_ : array
        The objective at the start and after each iteration.
    n_iter_ : int
    n_features_in_ : int
    feature_names_in_ : array, if X has names
    """

    _method = "semi-nmf"
    _settings = {"init": "init", "n_init": "restarts"}
    _supports = ("signed", "missing", "weights", "new")

    def __init__(
        self,
        n_components=10,
        *,
        init="random",
        n_init=1,
        solver="best",
        max_iter=200,
        tol=None,
        fixed_components=None,
        random_state=None,
        n_jobs=None,
        verbose=0,
    ):
        self.n_components = n_components
        self.init = init
        self.n_init = n_init
        self.solver = solver
        self.max_iter = max_iter
        self.tol = tol
        self.fixed_components = fixed_components
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose


class ONMF(Transformer):
    """Orthogonal NMF.

    Minimises ‖X − UVᵀ‖², VᵀV = I or UᵀU = I.

    Updates: one of them as nmf; V ← V∘√[(XᵀU)/(VVᵀXᵀU)], or U ← U∘√[(XV)/(UUᵀXV)].

    Parts: Frobenius cost, free basis, orthogonal coefficients or basis vectors.

    Data: non-negative values; weights of samples.

    Paper: Ding, Li, Peng and Park, Orthogonal nonnegative matrix tri-factorizations for clustering, KDD 2006.

    Parameters
    ----------
    n_components : default 10
        int or "auto": the number of basis vectors.
    orthogonal : default 'coefficients'
        factor with orthogonal columns (coefficients, basis; default coefficients).
    init : default 'random'
        initialisation of the factors (random, nndsvda, nmf, custom with W or H of fit; default random).
    n_init : default 1
        number of fits from different random factors; the one with the lowest objective is used (a whole number from
        1 to 10000; default 1).
    solver : default 'best'
        best, mu; best is fast where it serves the method.
    max_iter : default 200
        int: maximum number of iterations.
    tol : default None
        float: stop when an iteration reduces the objective by less than this fraction; None is 1e-5 with solver
        fast, else 0.
    fixed_components : default None
        array of shape (n, n_features): the first components, which stay as they are.
    random_state : default None
        int, RandomState or None: seed of the random numbers.
    n_jobs : default None
        int: number of threads, -1 for all cores; None is the share of the process in joblib, else all cores.
    verbose : default 0
        int: 1 shows the progress.

    Attributes
    ----------
    components_ : array of shape (n_components, n_features)
        The basis vectors Uᵀ, where the method has any.
    reconstruction_err_ : float
        √(objective without penalties); √(2·objective) for a divergence.
    objective_ : array
        The objective at the start and after each iteration.
    n_iter_ : int
    n_features_in_ : int
    feature_names_in_ : array, if X has names
    """

    _method = "onmf"
    _settings = {"orthogonal": "orthogonal", "init": "init", "n_init": "restarts"}
    _supports = ("weights", "new")

    def __init__(
        self,
        n_components=10,
        *,
        orthogonal="coefficients",
        init="random",
        n_init=1,
        solver="best",
        max_iter=200,
        tol=None,
        fixed_components=None,
        random_state=None,
        n_jobs=None,
        verbose=0,
    ):
        self.n_components = n_components
        self.orthogonal = orthogonal
        self.init = init
        self.n_init = n_init
        self.solver = solver
        self.max_iter = max_iter
        self.tol = tol
        self.fixed_components = fixed_components
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose


class TriNMF(Transformer):
    """Non-negative tri-factorisation.

    Minimises ‖X − GSVᵀ‖², or D(X, GSVᵀ) with another cost.

    Updates: S, G and V in turn, each θ ← θ∘(negative part)/(positive part), to the power γ(β) as nmf; orthogonal: G
    and V as in onmf.

    Parts: Frobenius cost or another, basis of groups of features.

    Data: non-negative values; missing values and weights.

    Paper: Ding, Li, Peng and Park, Orthogonal nonnegative matrix tri-factorizations for clustering, KDD 2006.

    Parameters
    ----------
    n_components : default 10
        int or "auto": the number of basis vectors.
    cost : default 'frobenius'
        cost: divergence between data and reconstruction (frobenius, kl, is, beta, l21, huber; default frobenius).
    exponent : default 0.5
        exponent β of cost beta (a number from 0 to 4; default 0.5).
    threshold : default None
        threshold δ of cost huber; larger errors count less than their squares (a number from 1e-60 to 1e+60;
        default a tenth of the mean value).
    feature_rank : default None
        number of groups of features (a whole number from 1 to 1000000; default rank).
    orthogonal : default 'none'
        hard constraint of orthogonal columns, on the coefficients, the groups of features (basis) or both; the
        paper has both (none, coefficients, basis, both; default none).
    init : default 'random'
        initialisation of the factors (random, nndsvda, nmf, custom with W or H of fit; default random).
    n_init : default 1
        number of fits from different random factors; the one with the lowest objective is used (a whole number from
        1 to 10000; default 1).
    solver : default 'best'
        best, mu; best is fast where it serves the method.
    max_iter : default 200
        int: maximum number of iterations.
    tol : default None
        float: stop when an iteration reduces the objective by less than this fraction; None is 1e-5 with solver
        fast, else 0.
    fixed_components : default None
        array of shape (n, n_features): the first components, which stay as they are.
    random_state : default None
        int, RandomState or None: seed of the random numbers.
    n_jobs : default None
        int: number of threads, -1 for all cores; None is the share of the process in joblib, else all cores.
    verbose : default 0
        int: 1 shows the progress.

    Attributes
    ----------
    components_ : array of shape (n_components, n_features)
        The basis vectors Uᵀ, where the method has any.
    reconstruction_err_ : float
        √(objective without penalties); √(2·objective) for a divergence.
    objective_ : array
        The objective at the start and after each iteration.
    n_iter_ : int
    n_features_in_ : int
    feature_names_in_ : array, if X has names
    """

    _method = "tri-nmf"
    _settings = {"cost": "cost", "exponent": "exponent", "threshold": "threshold", "feature_rank": "feature-rank", "orthogonal": "orthogonal", "init": "init", "n_init": "restarts"}
    _supports = ("missing", "weights", "new")

    def __init__(
        self,
        n_components=10,
        *,
        cost="frobenius",
        exponent=0.5,
        threshold=None,
        feature_rank=None,
        orthogonal="none",
        init="random",
        n_init=1,
        solver="best",
        max_iter=200,
        tol=None,
        fixed_components=None,
        random_state=None,
        n_jobs=None,
        verbose=0,
    ):
        self.n_components = n_components
        self.cost = cost
        self.exponent = exponent
        self.threshold = threshold
        self.feature_rank = feature_rank
        self.orthogonal = orthogonal
        self.init = init
        self.n_init = n_init
        self.solver = solver
        self.max_iter = max_iter
        self.tol = tol
        self.fixed_components = fixed_components
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose


class CF(Transformer):
    """Concept factorisation.

    Minimises ‖X − XWVᵀ‖².

    Updates: W ← W∘(KV)/(KW·VᵀV), V ← V∘(KW)/(V·WᵀKW); K = XᵀX, or a kernel's values.

    Parts: Frobenius cost, concept basis with any kernel.

    Data: values of any sign; weights of samples.

    Paper: Xu and Gong, Document clustering by concept factorization, SIGIR 2004.

    Parameters
    ----------
    n_components : default 10
        int or "auto": the number of basis vectors.
    kernel : default 'linear'
        kernel function (linear, rbf, polynomial, intersection; default linear).
    kernel_width : default None
        width t of the rbf kernel exp(-d²/2t²) (default mean distance).
    degree : default 2
        degree d of the polynomial kernel (xᵀy + c)^d (default 2).
    offset : default 1
        offset c of the polynomial kernel (xᵀy + c)^d (default 1).
    init : default 'random'
        initialisation of the factors (random, nndsvda, nmf, custom with W or H of fit; default random).
    n_init : default 1
        number of fits from different random factors; the one with the lowest objective is used (a whole number from
        1 to 10000; default 1).
    solver : default 'best'
        best, mu, fast; best is fast where it serves the method.
    max_iter : default 200
        int: maximum number of iterations.
    tol : default None
        float: stop when an iteration reduces the objective by less than this fraction; None is 1e-5 with solver
        fast, else 0.
    fixed_components : default None
        array of shape (n, n_features): the first components, which stay as they are.
    random_state : default None
        int, RandomState or None: seed of the random numbers.
    n_jobs : default None
        int: number of threads, -1 for all cores; None is the share of the process in joblib, else all cores.
    verbose : default 0
        int: 1 shows the progress.

    Attributes
    ----------
    components_ : array of shape (n_components, n_features)
        The basis vectors Uᵀ, where the method has any.
    reconstruction_err_ : float
        √(objective without penalties); √(2·objective) for a divergence.
    objective_ : array
        The objective at the start and after each iteration.
    n_iter_ : int
    n_features_in_ : int
    feature_names_in_ : array, if X has names
    """

    _method = "cf"
    _settings = {"kernel": "kernel", "kernel_width": "kernel-width", "degree": "degree", "offset": "offset", "init": "init", "n_init": "restarts"}
    _supports = ("signed", "weights", "new")

    def __init__(
        self,
        n_components=10,
        *,
        kernel="linear",
        kernel_width=None,
        degree=2,
        offset=1,
        init="random",
        n_init=1,
        solver="best",
        max_iter=200,
        tol=None,
        fixed_components=None,
        random_state=None,
        n_jobs=None,
        verbose=0,
    ):
        self.n_components = n_components
        self.kernel = kernel
        self.kernel_width = kernel_width
        self.degree = degree
        self.offset = offset
        self.init = init
        self.n_init = n_init
        self.solver = solver
        self.max_iter = max_iter
        self.tol = tol
        self.fixed_components = fixed_components
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose


class LCCF(Transformer):
    """Locally consistent concept factorisation.

    Minimises ‖X − XWVᵀ‖² + λ·tr(VᵀLV).

    Updates: W as cf; V ← V∘(KW + λSV)/(V·WᵀKW + λDV).

    Parts: Frobenius cost, concept basis with any kernel, graph penalty.

    Data: values of any sign; weights of samples.

    Paper: Cai, He and Han, Locally consistent concept factorization for document clustering, IEEE TKDE 23(6), 2011.

    Parameters
    ----------
    n_components : default 10
        int or "auto": the number of basis vectors.
    lambda_ : default 100
        weight λ of the graph (default 100).
    n_neighbors : default 5
        number of nearest neighbours of each sample (default 5).
    edges : default 'binary'
        edge weights (binary, heat, cosine; default binary).
    width : default None
        width t of the heat kernel exp(-d²/2t²) (default mean distance).
    kernel : default 'linear'
        kernel function (linear, rbf, polynomial, intersection; default linear).
    kernel_width : default None
        width t of the rbf kernel exp(-d²/2t²) (default mean distance).
    degree : default 2
        degree d of the polynomial kernel (xᵀy + c)^d (default 2).
    offset : default 1
        offset c of the polynomial kernel (xᵀy + c)^d (default 1).
    init : default 'random'
        initialisation of the factors (random, nndsvda, nmf, custom with W or H of fit; default random).
    n_init : default 1
        number of fits from different random factors; the one with the lowest objective is used (a whole number from
        1 to 10000; default 1).
    solver : default 'best'
        best, mu; best is fast where it serves the method.
    max_iter : default 200
        int: maximum number of iterations.
    tol : default None
        float: stop when an iteration reduces the objective by less than this fraction; None is 1e-5 with solver
        fast, else 0.
    fixed_components : default None
        array of shape (n, n_features): the first components, which stay as they are.
    random_state : default None
        int, RandomState or None: seed of the random numbers.
    n_jobs : default None
        int: number of threads, -1 for all cores; None is the share of the process in joblib, else all cores.
    verbose : default 0
        int: 1 shows the progress.

    Attributes
    ----------
    components_ : array of shape (n_components, n_features)
        The basis vectors Uᵀ, where the method has any.
    reconstruction_err_ : float
        √(objective without penalties); √(2·objective) for a divergence.
    objective_ : array
        The objective at the start and after each iteration.
    n_iter_ : int
    n_features_in_ : int
    feature_names_in_ : array, if X has names
    """

    _method = "lccf"
    _settings = {"lambda_": "lambda", "n_neighbors": "neighbours", "edges": "edges", "width": "width", "kernel": "kernel", "kernel_width": "kernel-width", "degree": "degree", "offset": "offset", "init": "init", "n_init": "restarts"}
    _supports = ("signed", "weights", "new")

    def __init__(
        self,
        n_components=10,
        *,
        lambda_=100,
        n_neighbors=5,
        edges="binary",
        width=None,
        kernel="linear",
        kernel_width=None,
        degree=2,
        offset=1,
        init="random",
        n_init=1,
        solver="best",
        max_iter=200,
        tol=None,
        fixed_components=None,
        random_state=None,
        n_jobs=None,
        verbose=0,
    ):
        self.n_components = n_components
        self.lambda_ = lambda_
        self.n_neighbors = n_neighbors
        self.edges = edges
        self.width = width
        self.kernel = kernel
        self.kernel_width = kernel_width
        self.degree = degree
        self.offset = offset
        self.init = init
        self.n_init = n_init
        self.solver = solver
        self.max_iter = max_iter
        self.tol = tol
        self.fixed_components = fixed_components
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose


class CCF(Transformer):
    """Constrained concept factorisation.

    Minimises ‖X − XW(AZ)ᵀ‖².

    Updates: W as cf with V = AZ; Z ← Z∘(AᵀKW)/(AᵀA·Z·WᵀKW).

    Parts: Frobenius cost, concept basis with any kernel, label ties.

    Data: values of any sign; needs some labels; weights of samples.

    Paper: Liu, Yang, Wu and Cai, Constrained concept factorization for image representation, IEEE Trans.
    Cybernetics 44(7), 2014.

    Parameters
    ----------
    n_components : default 10
        int or "auto": the number of basis vectors.
    kernel : default 'linear'
        kernel function (linear, rbf, polynomial, intersection; default linear).
    kernel_width : default None
        width t of the rbf kernel exp(-d²/2t²) (default mean distance).
    degree : default 2
        degree d of the polynomial kernel (xᵀy + c)^d (default 2).
    offset : default 1
        offset c of the polynomial kernel (xᵀy + c)^d (default 1).
    init : default 'random'
        initialisation of the factors (random, nndsvda, nmf, custom with W or H of fit; default random).
    n_init : default 1
        number of fits from different random factors; the one with the lowest objective is used (a whole number from
        1 to 10000; default 1).
    solver : default 'best'
        best, mu, fast; best is fast where it serves the method.
    max_iter : default 200
        int: maximum number of iterations.
    tol : default None
        float: stop when an iteration reduces the objective by less than this fraction; None is 1e-5 with solver
        fast, else 0.
    fixed_components : default None
        array of shape (n, n_features): the first components, which stay as they are.
    random_state : default None
        int, RandomState or None: seed of the random numbers.
    n_jobs : default None
        int: number of threads, -1 for all cores; None is the share of the process in joblib, else all cores.
    verbose : default 0
        int: 1 shows the progress.

    Attributes
    ----------
    components_ : array of shape (n_components, n_features)
        The basis vectors Uᵀ, where the method has any.
    reconstruction_err_ : float
        √(objective without penalties); √(2·objective) for a divergence.
    objective_ : array
        The objective at the start and after each iteration.
    n_iter_ : int
    n_features_in_ : int
    feature_names_in_ : array, if X has names
    """

    _method = "ccf"
    _settings = {"kernel": "kernel", "kernel_width": "kernel-width", "degree": "degree", "offset": "offset", "init": "init", "n_init": "restarts"}
    _needs = ("labels",)
    _supports = ("signed", "weights", "new")

    def __init__(
        self,
        n_components=10,
        *,
        kernel="linear",
        kernel_width=None,
        degree=2,
        offset=1,
        init="random",
        n_init=1,
        solver="best",
        max_iter=200,
        tol=None,
        fixed_components=None,
        random_state=None,
        n_jobs=None,
        verbose=0,
    ):
        self.n_components = n_components
        self.kernel = kernel
        self.kernel_width = kernel_width
        self.degree = degree
        self.offset = offset
        self.init = init
        self.n_init = n_init
        self.solver = solver
        self.max_iter = max_iter
        self.tol = tol
        self.fixed_components = fixed_components
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose


class CFOGL(Transformer):
    """Concept factorisation with optimal graph learning.

    Minimises ‖Q − W₀‖² + β·tr(FᵀL_QF) + λ·tr(VᵀL_QV) + μ·‖X − XWVᵀ‖².

    Updates: W as cf; V as lccf with the graph (Q + Qᵀ)/2; F the c smallest eigenvectors of L_Q; q_i the simplex
    projection of w_i − (β/4)·d^F_i − (λ/4)·d^V_i.

    Parts: Frobenius cost, concept basis with any kernel, learned graph.

    Data: values of any sign; weights of samples.

    Paper: Shu, Wu, Fan, You, Liu and Zhang, Concept factorization with optimal graph learning for data
    representation, ICIG 2019.

    Parameters
    ----------
    n_components : default 10
        int or "auto": the number of basis vectors.
    lambda_ : default 1
        weight λ of the graph on the coefficients (default 1).
    beta : default 1
        weight β of the graph's spectral embedding (default 1).
    mu : default 1
        weight μ of the fit (default 1).
    parts : default None
        number c of connected components that the graph approaches (default rank).
    n_neighbors : default 5
        number of nearest neighbours of each sample (default 5).
    edges : default 'binary'
        edge weights (binary, heat, cosine; default binary).
    width : default None
        width t of the heat kernel exp(-d²/2t²) (default mean distance).
    kernel : default 'linear'
        kernel function (linear, rbf, polynomial, intersection; default linear).
    kernel_width : default None
        width t of the rbf kernel exp(-d²/2t²) (default mean distance).
    degree : default 2
        degree d of the polynomial kernel (xᵀy + c)^d (default 2).
    offset : default 1
        offset c of the polynomial kernel (xᵀy + c)^d (default 1).
    rule : default 'exact'
        update: exact (minimises the objective) or printed (eq. 17 of the paper) (exact, printed; default exact).
    init : default 'random'
        initialisation of the factors (random, nndsvda, nmf, custom with W or H of fit; default random).
    n_init : default 1
        number of fits from different random factors; the one with the lowest objective is used (a whole number from
        1 to 10000; default 1).
    solver : default 'best'
        best, mu; best is fast where it serves the method.
    max_iter : default 200
        int: maximum number of iterations.
    tol : default None
        float: stop when an iteration reduces the objective by less than this fraction; None is 1e-5 with solver
        fast, else 0.
    fixed_components : default None
        array of shape (n, n_features): the first components, which stay as they are.
    random_state : default None
        int, RandomState or None: seed of the random numbers.
    n_jobs : default None
        int: number of threads, -1 for all cores; None is the share of the process in joblib, else all cores.
    verbose : default 0
        int: 1 shows the progress.

    Attributes
    ----------
    components_ : array of shape (n_components, n_features)
        The basis vectors Uᵀ, where the method has any.
    reconstruction_err_ : float
        √(objective without penalties); √(2·objective) for a divergence.
    objective_ : array
        The objective at the start and after each iteration.
    n_iter_ : int
    n_features_in_ : int
    feature_names_in_ : array, if X has names
    """

    _method = "cf-ogl"
    _settings = {"lambda_": "lambda", "beta": "beta", "mu": "mu", "parts": "parts", "n_neighbors": "neighbours", "edges": "edges", "width": "width", "kernel": "kernel", "kernel_width": "kernel-width", "degree": "degree", "offset": "offset", "rule": "rule", "init": "init", "n_init": "restarts"}
    _supports = ("signed", "weights", "new")

    def __init__(
        self,
        n_components=10,
        *,
        lambda_=1,
        beta=1,
        mu=1,
        parts=None,
        n_neighbors=5,
        edges="binary",
        width=None,
        kernel="linear",
        kernel_width=None,
        degree=2,
        offset=1,
        rule="exact",
        init="random",
        n_init=1,
        solver="best",
        max_iter=200,
        tol=None,
        fixed_components=None,
        random_state=None,
        n_jobs=None,
        verbose=0,
    ):
        self.n_components = n_components
        self.lambda_ = lambda_
        self.beta = beta
        self.mu = mu
        self.parts = parts
        self.n_neighbors = n_neighbors
        self.edges = edges
        self.width = width
        self.kernel = kernel
        self.kernel_width = kernel_width
        self.degree = degree
        self.offset = offset
        self.rule = rule
        self.init = init
        self.n_init = n_init
        self.solver = solver
        self.max_iter = max_iter
        self.tol = tol
        self.fixed_components = fixed_components
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose


class ECCF(Factorisation):
    """Entropic constrained concept factorisation.

    Minimises κ·Σ r_ic(1 − cos(φ_i, u_c)) + Σ r_ic·log(k·r_ic) + (λ/2)·(n − tr(RᵀPR)), φᵀφ = K(K + ρ·tr(K)/n·I)⁻¹
    with unit diagonal.

    Updates: r_i ← softmax((κ·φ_iᵀU + λ·(PR)_i + (λ/2)·log r_i)/(1 + λ/2)) for unlabelled samples; u_c the direction
    of Σ r_ic·φ_i.

    Parts: memberships with entropy, concepts of unit length in the whitened samples, graph, labels fixed.

    Data: values of any sign; needs some labels; no new samples.

    Paper: none: a method of this project (docs/eccf.md).

    Parameters
    ----------
    n_components : default 10
        int or "auto": the number of basis vectors.
    kappa : default 10
        weight κ of the cosines with the concepts (default 10).
    lambda_ : default 3
        weight λ of the graph (default 3).
    whitening : default 1
        ridge ρ of the whitening; a large one does not whiten (a number from 1e-100 to 1e+100; default 1).
    n_neighbors : default None
        number of nearest neighbours of each sample (default 10, or 5 up to 15 samples per concept).
    max_iter : default 200
        int: maximum number of iterations.
    tol : default None
        float: stop when an iteration reduces the objective by less than this fraction; None is 1e-5 with solver
        fast, else 0.
    random_state : default None
        int, RandomState or None: seed of the random numbers.
    n_jobs : default None
        int: number of threads, -1 for all cores; None is the share of the process in joblib, else all cores.
    verbose : default 0
        int: 1 shows the progress.

    Attributes
    ----------
    components_ : array of shape (n_components, n_features)
        The basis vectors Uᵀ, where the method has any.
    reconstruction_err_ : float
        √(objective without penalties); √(2·objective) for a divergence.
    objective_ : array
        The objective at the start and after each iteration.
    n_iter_ : int
    n_features_in_ : int
    feature_names_in_ : array, if X has names
    """

    _method = "eccf"
    _settings = {"kappa": "kappa", "lambda_": "lambda", "whitening": "whitening", "n_neighbors": "neighbours"}
    _needs = ("labels",)
    _supports = ("signed",)
    _each_class = True

    def __init__(
        self,
        n_components=10,
        *,
        kappa=10,
        lambda_=3,
        whitening=1,
        n_neighbors=None,
        max_iter=200,
        tol=None,
        random_state=None,
        n_jobs=None,
        verbose=0,
    ):
        self.n_components = n_components
        self.kappa = kappa
        self.lambda_ = lambda_
        self.whitening = whitening
        self.n_neighbors = n_neighbors
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose


class SSNMF(Factorisation):
    """Semi-supervised NMF of similarities.

    Minimises ‖Ã − GSGᵀ‖², Ã = XᵀX with must-links at its maximum and cannot-links at its minimum.

    Updates: S ← S∘(GᵀÃG)/(GᵀGSGᵀG); G ← G∘[(ÃGS)/(GSGᵀGS)]^¼.

    Parts: similarity matrix with links set to its extremes.

    Data: non-negative values; no new samples.

    Paper: Chen, Rege, Dong and Fotouhi, Deriving semantics for image clustering from accumulated user feedbacks,
    ACM Multimedia 2007.

    Parameters
    ----------
    n_components : default 10
        int or "auto": the number of basis vectors.
    rule : default 'damped'
        update: damped (never increases the objective) or printed (as in the paper; can increase it) (damped,
        printed; default damped).
    init : default 'random'
        initialisation of the factors (random, nndsvda, nmf, custom with W or H of fit; default random).
    n_init : default 1
        number of fits from different random factors; the one with the lowest objective is used (a whole number from
        1 to 10000; default 1).
    max_iter : default 200
        int: maximum number of iterations.
    tol : default None
        float: stop when an iteration reduces the objective by less than this fraction; None is 1e-5 with solver
        fast, else 0.
    random_state : default None
        int, RandomState or None: seed of the random numbers.
    n_jobs : default None
        int: number of threads, -1 for all cores; None is the share of the process in joblib, else all cores.
    verbose : default 0
        int: 1 shows the progress.

    Attributes
    ----------
    components_ : array of shape (n_components, n_features)
        The basis vectors Uᵀ, where the method has any.
    reconstruction_err_ : float
        √(objective without penalties); √(2·objective) for a divergence.
    objective_ : array
        The objective at the start and after each iteration.
    n_iter_ : int
    n_features_in_ : int
    feature_names_in_ : array, if X has names
    """

    _method = "ss-nmf"
    _settings = {"rule": "rule", "init": "init", "n_init": "restarts"}
    _needs = ("links",)

    def __init__(
        self,
        n_components=10,
        *,
        rule="damped",
        init="random",
        n_init=1,
        max_iter=200,
        tol=None,
        random_state=None,
        n_jobs=None,
        verbose=0,
    ):
        self.n_components = n_components
        self.rule = rule
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose


class SymNMF(Factorisation):
    """Symmetric NMF.

    Minimises ‖A − VVᵀ‖², A = D^-½SD^-½, S a graph or a kernel, D its row sums.

    Updates: V ← V∘[(AV)/(VVᵀV)]^⅓.

    Parts: similarities by a graph or a kernel, scaled by their row sums.

    Data: values of any sign; no new samples.

    Paper: Kuang, Ding and Park, Symmetric nonnegative matrix factorization for graph clustering, SDM 2012; He, Xie,
    Zdunek, Zhou and Cichocki, Symmetric nonnegative matrix factorization: algorithms and applications to
    probabilistic clustering, IEEE Trans. Neural Networks 22(12), 2011.

    Parameters
    ----------
    n_components : default 10
        int or "auto": the number of basis vectors.
    similarity : default 'graph'
        similarities: graph (of nearest neighbours) or kernel (graph, kernel; default graph).
    n_neighbors : default 5
        number of nearest neighbours of each sample (default 5).
    edges : default 'binary'
        edge weights (binary, heat, cosine; default binary).
    width : default None
        width t of the heat kernel exp(-d²/2t²) (default mean distance).
    kernel : default 'linear'
        kernel function (linear, rbf, polynomial, intersection; default linear).
    kernel_width : default None
        width t of the rbf kernel exp(-d²/2t²) (default mean distance).
    degree : default 2
        degree d of the polynomial kernel (xᵀy + c)^d (default 2).
    offset : default 1
        offset c of the polynomial kernel (xᵀy + c)^d (default 1).
    init : default 'random'
        initialisation of the factors (random, nndsvda, nmf, custom with W or H of fit; default random).
    n_init : default 1
        number of fits from different random factors; the one with the lowest objective is used (a whole number from
        1 to 10000; default 1).
    max_iter : default 200
        int: maximum number of iterations.
    tol : default None
        float: stop when an iteration reduces the objective by less than this fraction; None is 1e-5 with solver
        fast, else 0.
    random_state : default None
        int, RandomState or None: seed of the random numbers.
    n_jobs : default None
        int: number of threads, -1 for all cores; None is the share of the process in joblib, else all cores.
    verbose : default 0
        int: 1 shows the progress.

    Attributes
    ----------
    components_ : array of shape (n_components, n_features)
        The basis vectors Uᵀ, where the method has any.
    reconstruction_err_ : float
        √(objective without penalties); √(2·objective) for a divergence.
    objective_ : array
        The objective at the start and after each iteration.
    n_iter_ : int
    n_features_in_ : int
    feature_names_in_ : array, if X has names
    """

    _method = "sym-nmf"
    _settings = {"similarity": "similarity", "n_neighbors": "neighbours", "edges": "edges", "width": "width", "kernel": "kernel", "kernel_width": "kernel-width", "degree": "degree", "offset": "offset", "init": "init", "n_init": "restarts"}
    _supports = ("signed",)

    def __init__(
        self,
        n_components=10,
        *,
        similarity="graph",
        n_neighbors=5,
        edges="binary",
        width=None,
        kernel="linear",
        kernel_width=None,
        degree=2,
        offset=1,
        init="random",
        n_init=1,
        max_iter=200,
        tol=None,
        random_state=None,
        n_jobs=None,
        verbose=0,
    ):
        self.n_components = n_components
        self.similarity = similarity
        self.n_neighbors = n_neighbors
        self.edges = edges
        self.width = width
        self.kernel = kernel
        self.kernel_width = kernel_width
        self.degree = degree
        self.offset = offset
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose


class SparseCoding(Transformer):
    """Sparse coding.

    Minimises ‖X − BVᵀ‖² + λ·Σ|v_ij|, ‖b_j‖ ≤ 1.

    Updates: V exactly; b_j ← b_j + (c_j − B·a_j)/a_jj, projected to ‖b_j‖ ≤ 1, A = VᵀV, C = XV.

    Parts: Frobenius cost, atoms of unit length, L1 penalty on the codes.

    Data: values of any sign.

    Paper: Lee, Battle, Raina and Ng, Efficient sparse coding algorithms, NIPS 2006.

    Parameters
    ----------
    n_components : default 10
        int or "auto": the number of basis vectors.
    lambda_ : default 0.1
        weight λ of the L1 norm of the codes (default 0.1).
    init : default 'random'
        initialisation of the factors (random, nndsvda, nmf, custom with W or H of fit; default random).
    n_init : default 1
        number of fits from different random factors; the one with the lowest objective is used (a whole number from
        1 to 10000; default 1).
    max_iter : default 200
        int: maximum number of iterations.
    tol : default None
        float: stop when an iteration reduces the objective by less than this fraction; None is 1e-5 with solver
        fast, else 0.
    random_state : default None
        int, RandomState or None: seed of the random numbers.
    n_jobs : default None
        int: number of threads, -1 for all cores; None is the share of the process in joblib, else all cores.
    verbose : default 0
        int: 1 shows the progress.

    Attributes
    ----------
    components_ : array of shape (n_components, n_features)
        The basis vectors Uᵀ, where the method has any.
    reconstruction_err_ : float
        √(objective without penalties); √(2·objective) for a divergence.
    objective_ : array
        The objective at the start and after each iteration.
    n_iter_ : int
    n_features_in_ : int
    feature_names_in_ : array, if X has names
    """

    _method = "sparse-coding"
    _settings = {"lambda_": "lambda", "init": "init", "n_init": "restarts"}
    _supports = ("signed", "new")

    def __init__(
        self,
        n_components=10,
        *,
        lambda_=0.1,
        init="random",
        n_init=1,
        max_iter=200,
        tol=None,
        random_state=None,
        n_jobs=None,
        verbose=0,
    ):
        self.n_components = n_components
        self.lambda_ = lambda_
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose


class PCA(Transformer):
    """Principal component analysis.

    Minimises ‖X̄ − PPᵀX̄‖² over PᵀP = I, X̄ = X less its mean.

    Updates: none: the leading singular vectors of X̄.

    Parts: total scatter.

    Data: values of any sign.

    Paper: Pearson, On lines and planes of closest fit to systems of points in space, Philosophical Magazine 2(11),
    1901.

    Parameters
    ----------
    n_components : default 10
        int or "auto": the number of basis vectors.
    variance : default None
        fraction of the variance to keep, instead of a rank (default by rank).
    random_state : default None
        int, RandomState or None: seed of the random numbers.
    n_jobs : default None
        int: number of threads, -1 for all cores; None is the share of the process in joblib, else all cores.
    verbose : default 0
        int: 1 shows the progress.

    Attributes
    ----------
    components_ : array of shape (n_components, n_features)
        The basis vectors Uᵀ, where the method has any.
    n_features_in_ : int
    feature_names_in_ : array, if X has names
    """

    _method = "pca"
    _settings = {"variance": "variance"}
    _supports = ("signed", "new")

    def __init__(
        self,
        n_components=10,
        *,
        variance=None,
        random_state=None,
        n_jobs=None,
        verbose=0,
    ):
        self.n_components = n_components
        self.variance = variance
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose


class LDA(Transformer):
    """Linear discriminant analysis.

    Minimises tr(PᵀS_wP) relative to tr(PᵀS_bP).

    Updates: none: S_b·v = λ·S_w·v, the largest λ, at most c − 1.

    Parts: scatter within classes and scatter of class means, after PCA.

    Data: values of any sign; needs some labels.

    Paper: Belhumeur, Hespanha and Kriegman, Eigenfaces vs. Fisherfaces: recognition using class specific linear
    projection, IEEE TPAMI 19(7), 1997.

    Parameters
    ----------
    n_components : default 10
        int or "auto": the number of basis vectors.
    variance : default 0.9
        fraction of the variance that the preceding PCA keeps (default 0.9).
    random_state : default None
        int, RandomState or None: seed of the random numbers.
    n_jobs : default None
        int: number of threads, -1 for all cores; None is the share of the process in joblib, else all cores.
    verbose : default 0
        int: 1 shows the progress.

    Attributes
    ----------
    components_ : array of shape (n_components, n_features)
        The basis vectors Uᵀ, where the method has any.
    n_features_in_ : int
    feature_names_in_ : array, if X has names
    """

    _method = "lda"
    _settings = {"variance": "variance"}
    _needs = ("labels",)
    _supports = ("signed", "new")

    def __init__(
        self,
        n_components=10,
        *,
        variance=0.9,
        random_state=None,
        n_jobs=None,
        verbose=0,
    ):
        self.n_components = n_components
        self.variance = variance
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose


class MFA(Transformer):
    """Marginal Fisher analysis.

    Minimises tr(PᵀXLXᵀP) relative to tr(PᵀXL'XᵀP).

    Updates: none: XL'Xᵀ·v = λ·XLXᵀ·v, the largest λ.

    Parts: graph within classes and graph between classes, after PCA.

    Data: values of any sign; needs some labels.

    Paper: Yan, Xu, Zhang, Zhang, Yang and Lin, Graph embedding and extensions: a general framework for
    dimensionality reduction, IEEE TPAMI 29(1), 2007.

    Parameters
    ----------
    n_components : default 10
        int or "auto": the number of basis vectors.
    k1 : default 5
        number of nearest neighbours within the class of a sample (default 5).
    k2 : default None
        number of nearest pairs between a class and the other classes (default 40 × class size).
    variance : default 0.9
        fraction of the variance that the preceding PCA keeps (default 0.9).
    random_state : default None
        int, RandomState or None: seed of the random numbers.
    n_jobs : default None
        int: number of threads, -1 for all cores; None is the share of the process in joblib, else all cores.
    verbose : default 0
        int: 1 shows the progress.

    Attributes
    ----------
    components_ : array of shape (n_components, n_features)
        The basis vectors Uᵀ, where the method has any.
    n_features_in_ : int
    feature_names_in_ : array, if X has names
    """

    _method = "mfa"
    _settings = {"k1": "k1", "k2": "k2", "variance": "variance"}
    _needs = ("labels",)
    _supports = ("signed", "new")

    def __init__(
        self,
        n_components=10,
        *,
        k1=5,
        k2=None,
        variance=0.9,
        random_state=None,
        n_jobs=None,
        verbose=0,
    ):
        self.n_components = n_components
        self.k1 = k1
        self.k2 = k2
        self.variance = variance
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose


class SDA(Transformer):
    """Semi-supervised discriminant analysis.

    Minimises tr(Pᵀ(S_t + αXLXᵀ + βI)P) relative to tr(PᵀS_bP).

    Updates: none: S_b·v = λ·(S_t + αXLXᵀ + βI)·v, the largest λ, at most c − 1.

    Parts: total scatter with a graph over all samples, and scatter of class means.

    Data: values of any sign; needs some labels.

    Paper: Cai, He and Han, Semi-supervised discriminant analysis, ICCV 2007.

    Parameters
    ----------
    n_components : default 10
        int or "auto": the number of basis vectors.
    alpha : default 0.1
        weight α of the graph over all samples (default 0.1).
    ridge : default 0.1
        ridge regularisation: added to the diagonal of the scatter (default 0.1).
    n_neighbors : default 5
        number of nearest neighbours of each sample (default 5).
    edges : default 'binary'
        edge weights (binary, heat, cosine; default binary).
    width : default None
        width t of the heat kernel exp(-d²/2t²) (default mean distance).
    random_state : default None
        int, RandomState or None: seed of the random numbers.
    n_jobs : default None
        int: number of threads, -1 for all cores; None is the share of the process in joblib, else all cores.
    verbose : default 0
        int: 1 shows the progress.

    Attributes
    ----------
    components_ : array of shape (n_components, n_features)
        The basis vectors Uᵀ, where the method has any.
    n_features_in_ : int
    feature_names_in_ : array, if X has names
    """

    _method = "sda"
    _settings = {"alpha": "alpha", "ridge": "ridge", "n_neighbors": "neighbours", "edges": "edges", "width": "width"}
    _needs = ("labels",)
    _supports = ("signed", "new")

    def __init__(
        self,
        n_components=10,
        *,
        alpha=0.1,
        ridge=0.1,
        n_neighbors=5,
        edges="binary",
        width=None,
        random_state=None,
        n_jobs=None,
        verbose=0,
    ):
        self.n_components = n_components
        self.alpha = alpha
        self.ridge = ridge
        self.n_neighbors = n_neighbors
        self.edges = edges
        self.width = width
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose


class Parts(Transformer):
    """Any combination of parts.

    Minimises cost(X, U·Vᵀ) + penalties(U, V).

    Updates: θ ← θ∘(negative part of the gradient)/(positive part).

    Parts: any cost, basis, kernel, tie, weighting and penalties.

    Data: non-negative values; missing values and weights.

    Paper: none: the common engine of the methods above (docs/architecture.md).

    Parameters
    ----------
    n_components : default 10
        int or "auto": the number of basis vectors.
    cost : default 'frobenius'
        cost: divergence between data and reconstruction (frobenius, kl, is, beta, l21, huber; default frobenius).
    exponent : default 0.5
        exponent β of cost beta (a number from 0 to 4; default 0.5).
    threshold : default None
        threshold δ of cost huber; larger errors count less than their squares (a number from 1e-60 to 1e+60;
        default a tenth of the mean value).
    basis : default 'free'
        kind of basis vectors; concept allows data of any sign (free, concept, rank-one, semi, tri; default free).
    feature_rank : default None
        number of groups of features of basis tri (a whole number from 1 to 1000000; default rank).
    tie : default 'none'
        hard constraint; labels gives all samples of a class the same coefficients (none, labels; default none).
    orthogonal : default 'none'
        hard constraint of orthogonal columns, on the coefficients, the basis vectors (basis tri: the groups of
        features) or both (none, coefficients, basis, both; default none).
    weighting : default 'equal'
        weights of samples (equal, normalised-cut; default equal).
    penalty : default 'none'
        penalty added to the cost; + joins several (none, graph, links, learned-graph, l1, l2, l1-basis, l2-basis,
        orthogonal, orthogonal-basis, volume, smooth, variation; default none).
    unit_norm : default False
        scale basis vectors to unit length in every iteration (default false).
    kernel : default 'linear'
        kernel function (linear, rbf, polynomial, intersection; default linear).
    kernel_width : default None
        width t of the rbf kernel exp(-d²/2t²) (default mean distance).
    degree : default 2
        degree d of the polynomial kernel (xᵀy + c)^d (default 2).
    offset : default 1
        offset c of the polynomial kernel (xᵀy + c)^d (default 1).
    lambda_ : default None
        weight λ of the graph (default 100, learned-graph 1).
    n_neighbors : default 5
        number of nearest neighbours of each sample (default 5).
    edges : default 'binary'
        edge weights (binary, heat, cosine; default binary).
    width : default None
        width t of the heat kernel exp(-d²/2t²) (default mean distance).
    label_edges : default False
        join samples of the same label instead of nearest neighbours (default false).
    must : default 0.005
        weight of a must-link, −C_ij (default 0.005).
    cannot : default 1
        weight of a cannot-link, C_ij (default 1).
    beta : default 1
        weight β of the graph's spectral embedding (default 1).
    parts : default None
        number c of connected components that the graph approaches (default rank).
    rule : default 'exact'
        update: exact (minimises the objective) or printed (eq. 17 of the paper) (exact, printed; default exact).
    l1_weight : default 0.1
        weight λ of the sum of the coefficients (default 0.1).
    l2_weight : default 0.1
        weight λ of the squared coefficients (default 0.1).
    l1_basis_weight : default 0.1
        weight λ of the sum of the basis vectors (default 0.1).
    l2_basis_weight : default 0.1
        weight λ of the squared basis vectors (default 0.1).
    orthogonal_weight : default 0.1
        weight λ of the overlap of coefficients (default 0.1).
    orthogonal_basis_weight : default 0.1
        weight λ of the overlap of basis vectors (default 0.1).
    volume_weight : default 0.1
        weight λ of the volume of basis vectors (default 0.1).
    volume_delta : default 1
        δ in log det(UᵀU + δI) (default 1).
    smooth_weight : default 0.1
        weight λ of the squared differences of neighbouring pixels (default 0.1).
    variation_weight : default 0.1
        weight λ of the total variation of basis images (default 0.1).
    init : default 'random'
        initialisation of the factors (random, nndsvda, nmf, custom with W or H of fit; default random).
    n_init : default 1
        number of fits from different random factors; the one with the lowest objective is used (a whole number from
        1 to 10000; default 1).
    solver : default 'best'
        best, mu, fast; best is fast where it serves the method.
    max_iter : default 200
        int: maximum number of iterations.
    tol : default None
        float: stop when an iteration reduces the objective by less than this fraction; None is 1e-5 with solver
        fast, else 0.
    fixed_components : default None
        array of shape (n, n_features): the first components, which stay as they are.
    image_shape : default None
        (height, width) of the images in the rows of X; None is (n_features, 1).
    random_state : default None
        int, RandomState or None: seed of the random numbers.
    n_jobs : default None
        int: number of threads, -1 for all cores; None is the share of the process in joblib, else all cores.
    verbose : default 0
        int: 1 shows the progress.

    Attributes
    ----------
    components_ : array of shape (n_components, n_features)
        The basis vectors Uᵀ, where the method has any.
    reconstruction_err_ : float
        √(objective without penalties); √(2·objective) for a divergence.
    objective_ : array
        The objective at the start and after each iteration.
    n_iter_ : int
    n_features_in_ : int
    feature_names_in_ : array, if X has names
    """

    _method = "parts"
    _settings = {"cost": "cost", "exponent": "exponent", "threshold": "threshold", "basis": "basis", "feature_rank": "feature-rank", "tie": "tie", "orthogonal": "orthogonal", "weighting": "weighting", "penalty": "penalty", "unit_norm": "unit-norm", "kernel": "kernel", "kernel_width": "kernel-width", "degree": "degree", "offset": "offset", "lambda_": "lambda", "n_neighbors": "neighbours", "edges": "edges", "width": "width", "label_edges": "label-edges", "must": "must", "cannot": "cannot", "beta": "beta", "parts": "parts", "rule": "rule", "l1_weight": "l1-weight", "l2_weight": "l2-weight", "l1_basis_weight": "l1-basis-weight", "l2_basis_weight": "l2-basis-weight", "orthogonal_weight": "orthogonal-weight", "orthogonal_basis_weight": "orthogonal-basis-weight", "volume_weight": "volume-weight", "volume_delta": "volume-delta", "smooth_weight": "smooth-weight", "variation_weight": "variation-weight", "init": "init", "n_init": "restarts"}
    _needs = ("links",)
    _supports = ("missing", "weights", "new")

    def __init__(
        self,
        n_components=10,
        *,
        cost="frobenius",
        exponent=0.5,
        threshold=None,
        basis="free",
        feature_rank=None,
        tie="none",
        orthogonal="none",
        weighting="equal",
        penalty="none",
        unit_norm=False,
        kernel="linear",
        kernel_width=None,
        degree=2,
        offset=1,
        lambda_=None,
        n_neighbors=5,
        edges="binary",
        width=None,
        label_edges=False,
        must=0.005,
        cannot=1,
        beta=1,
        parts=None,
        rule="exact",
        l1_weight=0.1,
        l2_weight=0.1,
        l1_basis_weight=0.1,
        l2_basis_weight=0.1,
        orthogonal_weight=0.1,
        orthogonal_basis_weight=0.1,
        volume_weight=0.1,
        volume_delta=1,
        smooth_weight=0.1,
        variation_weight=0.1,
        init="random",
        n_init=1,
        solver="best",
        max_iter=200,
        tol=None,
        fixed_components=None,
        image_shape=None,
        random_state=None,
        n_jobs=None,
        verbose=0,
    ):
        self.n_components = n_components
        self.cost = cost
        self.exponent = exponent
        self.threshold = threshold
        self.basis = basis
        self.feature_rank = feature_rank
        self.tie = tie
        self.orthogonal = orthogonal
        self.weighting = weighting
        self.penalty = penalty
        self.unit_norm = unit_norm
        self.kernel = kernel
        self.kernel_width = kernel_width
        self.degree = degree
        self.offset = offset
        self.lambda_ = lambda_
        self.n_neighbors = n_neighbors
        self.edges = edges
        self.width = width
        self.label_edges = label_edges
        self.must = must
        self.cannot = cannot
        self.beta = beta
        self.parts = parts
        self.rule = rule
        self.l1_weight = l1_weight
        self.l2_weight = l2_weight
        self.l1_basis_weight = l1_basis_weight
        self.l2_basis_weight = l2_basis_weight
        self.orthogonal_weight = orthogonal_weight
        self.orthogonal_basis_weight = orthogonal_basis_weight
        self.volume_weight = volume_weight
        self.volume_delta = volume_delta
        self.smooth_weight = smooth_weight
        self.variation_weight = variation_weight
        self.init = init
        self.n_init = n_init
        self.solver = solver
        self.max_iter = max_iter
        self.tol = tol
        self.fixed_components = fixed_components
        self.image_shape = image_shape
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose


class ConstrainedKMeans(Clusterer):
    """K-means with labels and links as constraints, started at labelled means (Basu, Banerjee and Mooney 2002).

    Data: values of any sign.

    Parameters
    ----------
    n_clusters : default 8
        int or "auto": the number of clusters.
    distance : default 'euclidean'
        distance between samples (euclidean, cosine; default euclidean).
    init : default 'random'
        initialisation of the centres (random, k-means++; default random).
    refine : default False
        afterwards, move single samples while the objective decreases (default false).
    n_init : default 20
        number of starts; the result with the smallest objective is used (default 20).
    random_state : default None
        int, RandomState or None: seed of the random numbers.
    n_jobs : default None
        int: number of threads, -1 for all cores; None is the share of the process in joblib, else all cores.
    verbose : default 0
        int: 1 shows the progress.

    Attributes
    ----------
    labels_ : array of shape (n_samples,)
        The cluster of each sample.
    cluster_centers_ : array of shape (n_clusters, n_features)
        The means of the clusters, of features that are not propagated.
    inertia_ : float
        The sum of squared distances to the centres.
    n_features_in_ : int
    feature_names_in_ : array, if X has names
    """

    _method = "constrained-kmeans"
    _settings = {"distance": "distance", "init": "start", "refine": "refine", "n_init": "restarts"}
    _needs = ("labels", "links")
    _supports = ("signed", "new")
    _without = "kmeans"

    def __init__(
        self,
        n_clusters=8,
        *,
        distance="euclidean",
        init="random",
        refine=False,
        n_init=20,
        random_state=None,
        n_jobs=None,
        verbose=0,
    ):
        self.n_clusters = n_clusters
        self.distance = distance
        self.init = init
        self.refine = refine
        self.n_init = n_init
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose


class COPKMeans(Clusterer):
    """K-means under must-links and cannot-links (Wagstaff et al. 2001).

    Data: values of any sign.

    Parameters
    ----------
    n_clusters : default 8
        int or "auto": the number of clusters.
    distance : default 'euclidean'
        distance between samples (euclidean, cosine; default euclidean).
    init : default 'random'
        initialisation of the centres (random, k-means++; default random).
    refine : default False
        afterwards, move single samples while the objective decreases (default false).
    n_init : default 20
        number of starts; the result with the smallest objective is used (default 20).
    random_state : default None
        int, RandomState or None: seed of the random numbers.
    n_jobs : default None
        int: number of threads, -1 for all cores; None is the share of the process in joblib, else all cores.
    verbose : default 0
        int: 1 shows the progress.

    Attributes
    ----------
    labels_ : array of shape (n_samples,)
        The cluster of each sample.
    cluster_centers_ : array of shape (n_clusters, n_features)
        The means of the clusters, of features that are not propagated.
    inertia_ : float
        The sum of squared distances to the centres.
    n_features_in_ : int
    feature_names_in_ : array, if X has names
    """

    _method = "cop-kmeans"
    _settings = {"distance": "distance", "init": "start", "refine": "refine", "n_init": "restarts"}
    _needs = ("labels", "links")
    _supports = ("signed", "new")
    _without = "kmeans"

    def __init__(
        self,
        n_clusters=8,
        *,
        distance="euclidean",
        init="random",
        refine=False,
        n_init=20,
        random_state=None,
        n_jobs=None,
        verbose=0,
    ):
        self.n_clusters = n_clusters
        self.distance = distance
        self.init = init
        self.refine = refine
        self.n_init = n_init
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose


class GuidedKMeans(Clusterer):
    """Constrained cosine k-means, combined with logistic regression on the labelled samples.

    Data: values of any sign.

    Parameters
    ----------
    n_clusters : default 8
        int or "auto": the number of clusters.
    distance : default 'euclidean'
        distance between samples (euclidean, cosine; default euclidean).
    init : default 'random'
        initialisation of the centres (random, k-means++; default random).
    refine : default False
        afterwards, move single samples while the objective decreases (default false).
    n_init : default 20
        number of starts; the result with the smallest objective is used (default 20).
    random_state : default None
        int, RandomState or None: seed of the random numbers.
    n_jobs : default None
        int: number of threads, -1 for all cores; None is the share of the process in joblib, else all cores.
    verbose : default 0
        int: 1 shows the progress.

    Attributes
    ----------
    labels_ : array of shape (n_samples,)
        The cluster of each sample.
    cluster_centers_ : array of shape (n_clusters, n_features)
        The means of the clusters, of features that are not propagated.
    inertia_ : float
        The sum of squared distances to the centres.
    n_features_in_ : int
    feature_names_in_ : array, if X has names
    """

    _method = "guided-kmeans"
    _settings = {"distance": "distance", "init": "start", "refine": "refine", "n_init": "restarts"}
    _needs = ("labels", "links")
    _supports = ("signed", "new")

    def __init__(
        self,
        n_clusters=8,
        *,
        distance="euclidean",
        init="random",
        refine=False,
        n_init=20,
        random_state=None,
        n_jobs=None,
        verbose=0,
    ):
        self.n_clusters = n_clusters
        self.distance = distance
        self.init = init
        self.refine = refine
        self.n_init = n_init
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose


class Harmonic(Clusterer):
    """Harmonic functions: unlabelled samples are means of their neighbours (Zhu, Ghahramani and Lafferty 2003).

    Data: values of any sign.

    Parameters
    ----------
    n_clusters : default 8
        int or "auto": the number of clusters.
    random_state : default None
        int, RandomState or None: seed of the random numbers.
    n_jobs : default None
        int: number of threads, -1 for all cores; None is the share of the process in joblib, else all cores.
    verbose : default 0
        int: 1 shows the progress.

    Attributes
    ----------
    labels_ : array of shape (n_samples,)
        The cluster of each sample.
    cluster_centers_ : array of shape (n_clusters, n_features)
        The means of the clusters, of features that are not propagated.
    inertia_ : float
        The sum of squared distances to the centres.
    n_features_in_ : int
    feature_names_in_ : array, if X has names
    """

    _method = "harmonic"
    _needs = ("labels",)
    _supports = ("signed", "new")

    def __init__(
        self,
        n_clusters=8,
        *,
        random_state=None,
        n_jobs=None,
        verbose=0,
    ):
        self.n_clusters = n_clusters
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose


class KernelKMeans(Clusterer):
    """Kernel k-means on inner products of samples.

    Data: values of any sign.

    Parameters
    ----------
    n_clusters : default 8
        int or "auto": the number of clusters.
    n_init : default 20
        number of starts; the result with the smallest objective is used (default 20).
    random_state : default None
        int, RandomState or None: seed of the random numbers.
    n_jobs : default None
        int: number of threads, -1 for all cores; None is the share of the process in joblib, else all cores.
    verbose : default 0
        int: 1 shows the progress.

    Attributes
    ----------
    labels_ : array of shape (n_samples,)
        The cluster of each sample.
    cluster_centers_ : array of shape (n_clusters, n_features)
        The means of the clusters, of features that are not propagated.
    inertia_ : float
        The sum of squared distances to the centres.
    n_features_in_ : int
    feature_names_in_ : array, if X has names
    """

    _method = "kernel-kmeans"
    _settings = {"n_init": "restarts"}
    _supports = ("signed", "new")

    def __init__(
        self,
        n_clusters=8,
        *,
        n_init=20,
        random_state=None,
        n_jobs=None,
        verbose=0,
    ):
        self.n_clusters = n_clusters
        self.n_init = n_init
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose


class KMeans(CentroidClusterer):
    """K-means.

    Data: values of any sign.

    Parameters
    ----------
    n_clusters : default 8
        int or "auto": the number of clusters.
    distance : default 'euclidean'
        distance between samples (euclidean, cosine; default euclidean).
    init : default 'random'
        initialisation of the centres (random, k-means++; default random).
    refine : default False
        afterwards, move single samples while the objective decreases (default false).
    n_init : default 20
        number of starts; the result with the smallest objective is used (default 20).
    random_state : default None
        int, RandomState or None: seed of the random numbers.
    n_jobs : default None
        int: number of threads, -1 for all cores; None is the share of the process in joblib, else all cores.
    verbose : default 0
        int: 1 shows the progress.

    Attributes
    ----------
    labels_ : array of shape (n_samples,)
        The cluster of each sample.
    cluster_centers_ : array of shape (n_clusters, n_features)
        The means of the clusters, of features that are not propagated.
    inertia_ : float
        The sum of squared distances to the centres.
    n_features_in_ : int
    feature_names_in_ : array, if X has names
    """

    _method = "kmeans"
    _settings = {"distance": "distance", "init": "start", "refine": "refine", "n_init": "restarts"}
    _supports = ("signed", "new")

    def __init__(
        self,
        n_clusters=8,
        *,
        distance="euclidean",
        init="random",
        refine=False,
        n_init=20,
        random_state=None,
        n_jobs=None,
        verbose=0,
    ):
        self.n_clusters = n_clusters
        self.distance = distance
        self.init = init
        self.refine = refine
        self.n_init = n_init
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose


class LabelSpreading(Clusterer):
    """Labels spread over a graph of nearest neighbours (Zhou et al. 2004).

    Data: values of any sign.

    Parameters
    ----------
    n_clusters : default 8
        int or "auto": the number of clusters.
    random_state : default None
        int, RandomState or None: seed of the random numbers.
    n_jobs : default None
        int: number of threads, -1 for all cores; None is the share of the process in joblib, else all cores.
    verbose : default 0
        int: 1 shows the progress.

    Attributes
    ----------
    labels_ : array of shape (n_samples,)
        The cluster of each sample.
    cluster_centers_ : array of shape (n_clusters, n_features)
        The means of the clusters, of features that are not propagated.
    inertia_ : float
        The sum of squared distances to the centres.
    n_features_in_ : int
    feature_names_in_ : array, if X has names
    """

    _method = "label-spreading"
    _needs = ("labels",)
    _supports = ("signed", "new")

    def __init__(
        self,
        n_clusters=8,
        *,
        random_state=None,
        n_jobs=None,
        verbose=0,
    ):
        self.n_clusters = n_clusters
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose


class Logistic(Clusterer):
    """Logistic regression on the labelled samples.

    Data: values of any sign.

    Parameters
    ----------
    n_clusters : default 8
        int or "auto": the number of clusters.
    random_state : default None
        int, RandomState or None: seed of the random numbers.
    n_jobs : default None
        int: number of threads, -1 for all cores; None is the share of the process in joblib, else all cores.
    verbose : default 0
        int: 1 shows the progress.

    Attributes
    ----------
    labels_ : array of shape (n_samples,)
        The cluster of each sample.
    cluster_centers_ : array of shape (n_clusters, n_features)
        The means of the clusters, of features that are not propagated.
    inertia_ : float
        The sum of squared distances to the centres.
    n_features_in_ : int
    feature_names_in_ : array, if X has names
    """

    _method = "logistic"
    _needs = ("labels",)
    _supports = ("signed", "new")

    def __init__(
        self,
        n_clusters=8,
        *,
        random_state=None,
        n_jobs=None,
        verbose=0,
    ):
        self.n_clusters = n_clusters
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose


class SpectralClustering(Clusterer):
    """Normalised cuts on inner products of samples (Shi and Malik 2000; Ng, Jordan and Weiss 2001).

    Data: values of any sign.

    Parameters
    ----------
    n_clusters : default 8
        int or "auto": the number of clusters.
    distance : default 'euclidean'
        distance between samples (euclidean, cosine; default euclidean).
    init : default 'random'
        initialisation of the centres (random, k-means++; default random).
    refine : default False
        afterwards, move single samples while the objective decreases (default false).
    n_init : default 20
        number of starts; the result with the smallest objective is used (default 20).
    random_state : default None
        int, RandomState or None: seed of the random numbers.
    n_jobs : default None
        int: number of threads, -1 for all cores; None is the share of the process in joblib, else all cores.
    verbose : default 0
        int: 1 shows the progress.

    Attributes
    ----------
    labels_ : array of shape (n_samples,)
        The cluster of each sample.
    cluster_centers_ : array of shape (n_clusters, n_features)
        The means of the clusters, of features that are not propagated.
    inertia_ : float
        The sum of squared distances to the centres.
    n_features_in_ : int
    feature_names_in_ : array, if X has names
    """

    _method = "ncut"
    _settings = {"distance": "distance", "init": "start", "refine": "refine", "n_init": "restarts"}
    _supports = ("new",)

    def __init__(
        self,
        n_clusters=8,
        *,
        distance="euclidean",
        init="random",
        refine=False,
        n_init=20,
        random_state=None,
        n_jobs=None,
        verbose=0,
    ):
        self.n_clusters = n_clusters
        self.distance = distance
        self.init = init
        self.refine = refine
        self.n_init = n_init
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose


class NearestLabelled(Clusterer):
    """The label of the nearest labelled sample.

    Data: values of any sign.

    Parameters
    ----------
    n_clusters : default 8
        int or "auto": the number of clusters.
    random_state : default None
        int, RandomState or None: seed of the random numbers.
    n_jobs : default None
        int: number of threads, -1 for all cores; None is the share of the process in joblib, else all cores.
    verbose : default 0
        int: 1 shows the progress.

    Attributes
    ----------
    labels_ : array of shape (n_samples,)
        The cluster of each sample.
    cluster_centers_ : array of shape (n_clusters, n_features)
        The means of the clusters, of features that are not propagated.
    inertia_ : float
        The sum of squared distances to the centres.
    n_features_in_ : int
    feature_names_in_ : array, if X has names
    """

    _method = "nearest-labelled"
    _needs = ("labels",)
    _supports = ("signed", "new")

    def __init__(
        self,
        n_clusters=8,
        *,
        random_state=None,
        n_jobs=None,
        verbose=0,
    ):
        self.n_clusters = n_clusters
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose


class PropagatedKMeans(Clusterer):
    """K-means on whitened features that are averaged over a graph of nearest neighbours.

    Data: values of any sign.

    Parameters
    ----------
    n_clusters : default 8
        int or "auto": the number of clusters.
    n_init : default 20
        number of starts; the result with the smallest objective is used (default 20).
    random_state : default None
        int, RandomState or None: seed of the random numbers.
    n_jobs : default None
        int: number of threads, -1 for all cores; None is the share of the process in joblib, else all cores.
    verbose : default 0
        int: 1 shows the progress.

    Attributes
    ----------
    labels_ : array of shape (n_samples,)
        The cluster of each sample.
    cluster_centers_ : array of shape (n_clusters, n_features)
        The means of the clusters, of features that are not propagated.
    inertia_ : float
        The sum of squared distances to the centres.
    n_features_in_ : int
    feature_names_in_ : array, if X has names
    """

    _method = "propagated-kmeans"
    _settings = {"n_init": "restarts"}
    _needs = ("links",)
    _supports = ("signed", "new")

    def __init__(
        self,
        n_clusters=8,
        *,
        n_init=20,
        random_state=None,
        n_jobs=None,
        verbose=0,
    ):
        self.n_clusters = n_clusters
        self.n_init = n_init
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose


class SeededKMeans(Clusterer):
    """K-means started at the means of labelled samples (Basu, Banerjee and Mooney 2002).

    Data: values of any sign.

    Parameters
    ----------
    n_clusters : default 8
        int or "auto": the number of clusters.
    distance : default 'euclidean'
        distance between samples (euclidean, cosine; default euclidean).
    init : default 'random'
        initialisation of the centres (random, k-means++; default random).
    refine : default False
        afterwards, move single samples while the objective decreases (default false).
    n_init : default 20
        number of starts; the result with the smallest objective is used (default 20).
    random_state : default None
        int, RandomState or None: seed of the random numbers.
    n_jobs : default None
        int: number of threads, -1 for all cores; None is the share of the process in joblib, else all cores.
    verbose : default 0
        int: 1 shows the progress.

    Attributes
    ----------
    labels_ : array of shape (n_samples,)
        The cluster of each sample.
    cluster_centers_ : array of shape (n_clusters, n_features)
        The means of the clusters, of features that are not propagated.
    inertia_ : float
        The sum of squared distances to the centres.
    n_features_in_ : int
    feature_names_in_ : array, if X has names
    """

    _method = "seeded-kmeans"
    _settings = {"distance": "distance", "init": "start", "refine": "refine", "n_init": "restarts"}
    _needs = ("labels",)
    _supports = ("signed", "new")
    _without = "kmeans"

    def __init__(
        self,
        n_clusters=8,
        *,
        distance="euclidean",
        init="random",
        refine=False,
        n_init=20,
        random_state=None,
        n_jobs=None,
        verbose=0,
    ):
        self.n_clusters = n_clusters
        self.distance = distance
        self.init = init
        self.refine = refine
        self.n_init = n_init
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose


class SelfTraining(Clusterer):
    """Logistic regression that also learns from its own safe classes (Yarowsky 1995).

    Data: values of any sign.

    Parameters
    ----------
    n_clusters : default 8
        int or "auto": the number of clusters.
    random_state : default None
        int, RandomState or None: seed of the random numbers.
    n_jobs : default None
        int: number of threads, -1 for all cores; None is the share of the process in joblib, else all cores.
    verbose : default 0
        int: 1 shows the progress.

    Attributes
    ----------
    labels_ : array of shape (n_samples,)
        The cluster of each sample.
    cluster_centers_ : array of shape (n_clusters, n_features)
        The means of the clusters, of features that are not propagated.
    inertia_ : float
        The sum of squared distances to the centres.
    n_features_in_ : int
    feature_names_in_ : array, if X has names
    """

    _method = "self-training"
    _needs = ("labels",)
    _supports = ("signed", "new")

    def __init__(
        self,
        n_clusters=8,
        *,
        random_state=None,
        n_jobs=None,
        verbose=0,
    ):
        self.n_clusters = n_clusters
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose


class SSKK(Clusterer):
    """Kernel k-means with rewards and penalties for links (Kulis et al. 2005).

    Data: values of any sign.

    Parameters
    ----------
    n_clusters : default 8
        int or "auto": the number of clusters.
    n_init : default 20
        number of starts; the result with the smallest objective is used (default 20).
    random_state : default None
        int, RandomState or None: seed of the random numbers.
    n_jobs : default None
        int: number of threads, -1 for all cores; None is the share of the process in joblib, else all cores.
    verbose : default 0
        int: 1 shows the progress.

    Attributes
    ----------
    labels_ : array of shape (n_samples,)
        The cluster of each sample.
    cluster_centers_ : array of shape (n_clusters, n_features)
        The means of the clusters, of features that are not propagated.
    inertia_ : float
        The sum of squared distances to the centres.
    n_features_in_ : int
    feature_names_in_ : array, if X has names
    """

    _method = "ss-kk"
    _settings = {"n_init": "restarts"}
    _needs = ("labels", "links")
    _supports = ("signed", "new")
    _without = "kernel-kmeans"

    def __init__(
        self,
        n_clusters=8,
        *,
        n_init=20,
        random_state=None,
        n_jobs=None,
        verbose=0,
    ):
        self.n_clusters = n_clusters
        self.n_init = n_init
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose


class SSSNC(Clusterer):
    """Normalised cuts with must-links at the largest and cannot-links at the smallest similarity (Ji and Xu 2006).

    Data: values of any sign.

    Parameters
    ----------
    n_clusters : default 8
        int or "auto": the number of clusters.
    distance : default 'euclidean'
        distance between samples (euclidean, cosine; default euclidean).
    init : default 'random'
        initialisation of the centres (random, k-means++; default random).
    refine : default False
        afterwards, move single samples while the objective decreases (default false).
    n_init : default 20
        number of starts; the result with the smallest objective is used (default 20).
    random_state : default None
        int, RandomState or None: seed of the random numbers.
    n_jobs : default None
        int: number of threads, -1 for all cores; None is the share of the process in joblib, else all cores.
    verbose : default 0
        int: 1 shows the progress.

    Attributes
    ----------
    labels_ : array of shape (n_samples,)
        The cluster of each sample.
    cluster_centers_ : array of shape (n_clusters, n_features)
        The means of the clusters, of features that are not propagated.
    inertia_ : float
        The sum of squared distances to the centres.
    n_features_in_ : int
    feature_names_in_ : array, if X has names
    """

    _method = "ss-snc"
    _settings = {"distance": "distance", "init": "start", "refine": "refine", "n_init": "restarts"}
    _needs = ("labels", "links")
    _supports = ("new",)
    _without = "ncut"

    def __init__(
        self,
        n_clusters=8,
        *,
        distance="euclidean",
        init="random",
        refine=False,
        n_init=20,
        random_state=None,
        n_jobs=None,
        verbose=0,
    ):
        self.n_clusters = n_clusters
        self.distance = distance
        self.init = init
        self.refine = refine
        self.n_init = n_init
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
