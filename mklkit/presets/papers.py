"""Complete systems under one name: one with plain default kernels, and those of the papers."""

from __future__ import annotations

from collections.abc import Iterable

from mklkit.protocols.component import Preset
from mklkit.registry.hookspecs import hookimpl

PLAIN_KERNELS = ("linear", "rbf(sigma='mean')", "polynomial(degree=2)")
"""The three kernels of Wang, Chen and Sun 2008."""
PRINTED_MHKS = "mhks(solver='printed')"
"""MHKS by the iteration of the papers, also for many samples."""
ONE_RBF = ("rbf(sigma='mean')",)
RPEMEKL_KERNELS = (
    "cosine:cosine(linear)",
    "rbf:rbf(sigma='mean')",
    "rbf_narrow:rbf(sigma='mean/10')",
)
"""The normalised linear kernel and two Gaussian ones, σ and σ/10 (Wang et al. 2013, sec. 3.1)."""
FIVE_WIDTHS = (
    "k1:rbf(gamma=0.002)",
    "k2:rbf(gamma='auto')",
    "k3:rbf(gamma='5*auto')",
    "k4:rbf(gamma='10*auto')",
    "k5:rbf(gamma='25*auto')",
)
"""exp(−s‖x − z‖²) with s = 2e-3, 1/d, 5/d, 10/d, 25/d; features in [−1, 1] (section 5.2)."""
FOUR_WIDTHS = tuple(
    f"w{factor}:rbf(sigma='{factor}*neighbors')" for factor in ("0.01", "0.1", "1", "10")
)
"""exp(−‖x − z‖²/w²) with w = 0.01, 0.1, 1 and 10 times the neighbour scale (section 7.2)."""


@hookimpl
def mklkit_presets() -> Iterable[Preset]:
    """Register the presets."""
    return [
        Preset(
            "plain",
            "The default kernels without normalisation: values grow with the features",
            "uniform",
            kernels=PLAIN_KERNELS,
        ),
        Preset(
            "mhks",
            "One Gaussian kernel, empirical map, Ho-Kashyap learner (Wang, Chen and Sun 2008)",
            "uniform",
            ONE_RBF,
            "empirical",
            PRINTED_MHKS,
        ),
        Preset(
            "kmhks",
            "One Gaussian kernel, implicit map, kernel Ho-Kashyap learner (Wang and Chen 2009)",
            "uniform",
            ONE_RBF,
            "implicit",
            "kmhks",
        ),
        Preset(
            "multik-mhks",
            "Linear, Gaussian and quadratic kernels, coupled MHKS (Wang, Chen and Sun 2008)",
            "ifsl(rule='gradient')",
            PLAIN_KERNELS,
            "empirical",
            PRINTED_MHKS,
        ),
        Preset(
            "multiv-kmhks",
            "Gaussian and cubic kernels, one KMHKS per kernel, coupled (Wang and Chen 2009)",
            "ifsl(rule='fixed-mean')",
            ("rbf(sigma='mean')", "polynomial(degree=3)"),
            "implicit",
            "kmhks",
        ),
        Preset(
            "rpemekl",
            "Three members on maps of a tenth of the samples, at most 1,000, coupled MHKS, by vote"
            " (Wang et al. 2013)",
            "ifsl(rule='gradient')",
            RPEMEKL_KERNELS,
            # As in the paper's largest set; a tenth of millions of samples would take forever.
            "empirical(subset=0.1, most=1000)",
            PRINTED_MHKS,
            members=3,
        ),
        Preset(
            "nu-mkl",
            "Four Gaussian widths, weights for four soft clusters, embedding (Mu and Zhou 2011)",
            # Two alternations, each as far as the ratio rises: converged weights overfit the
            # training samples, and the published steps stop far from convergence.
            "cluster-gating(n_clusters=4, alpha=0.001, max_iter=2)",
            FOUR_WIDTHS,
            "implicit",
            "kda(alpha=0.001)",
        ),
        *(
            Preset(
                f"paper-dimkl{number}",
                f"DiMKL {number} on five Gaussian widths (Price et al. 2022), libsvm with C = 1",
                f"dimkl{number}",
                FIVE_WIDTHS,
                "implicit",
                "svm(C=1.0)",
                scale="minmax",
            )
            for number in range(1, 7)
        ),
    ]
