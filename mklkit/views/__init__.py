"""Rows seen through kernels: columns, tiles, statistics, views, and the parts a model keeps.

Each view computes its Gram matrix, its statistics and its eigendecomposition once, and keeps them
in the cache (``cache.py``).

- *Shared base quantities.* Most kernels are a scalar function of an inner product or a distance of
  two samples, and declare it (``base``, ``of``). ``KernelRows`` (``kernel_rows.py``) holds several
  kernels and their samples, with one array for each set of columns. Kernels with the same base on
  the same array share its computation: five Gaussian widths need one matrix of distances. Across
  folds, the cache holds the base quantities of all pairs of samples, and each fold takes its part
  (``KnownPairs`` in ``rows.py``); with fewer than 32 columns, recomputing is faster.
- *Columns that are not numeric.* A kernel's traits state what it ``reads``. When a table is read
  (``estimators/reading.py``), text columns become code points, and categories become codes that
  depend only on the value. ``estimators/binding.py`` decides which kernel has which columns, and
  ``TableEncoder`` passes on unchanged the columns that the declared sources need.
- *Tiles.* Statistics (``statistics.py``) are sums over 256 × 1024 tiles, and a weighted sum of
  kernels is one matrix that is filled tile by tile. M kernels never need M matrices. ``over_tiles``
  computes tiles in as many threads as BLAS may use, reuses the memory of each thread, and adds up
  in the order of the tiles, so that results do not depend on the number of threads.
- *The learner's kernel.* With an explicit map, weights are computed from the kernel of the
  features, ΦΦᵀ (``View.learner_kernel``); on a full empirical map this is the kernel itself.
- *Missing sources.* Kernels and maps never see the mask of missing sources, because missing values
  hold medians. The mask counts in two places. Where kernels are evaluated,
  ``KernelRows.similarities`` and ``RowBlock`` set similarities and features of such samples to
  zero, and a weighted sum scales each sample by √(Σ w_m / s(x)) (``sample_scale``), in the Gram
  matrix, in features and in decisions. Where statistics are taken, ``members_with`` selects the
  samples that have the source: kernels and maps are fitted to them, and ``view.present`` gives
  combiners their statistics. The functions are in ``protocols/missing_sources.py``. Everything else
  belongs to a strategy (``protocols/missing.py``), which the plan names and
  ``estimators/missing_sources.py`` applies.
- *Quartiles.* The quartiles of a kernel that is monotone in its base follow from those of the base,
  so that one selection serves all widths. It is computed when a combiner first reads a quartile.
- *Eigenpairs.* Those of a view's centred normal or Gram matrix do not depend on the learner's
  parameters. On a full empirical map the normal matrix is diagonal and stored as such.
- *No eigenpairs.* Features that reproduce a definite kernel (``FeatureMapTraits.reproduces``) are
  not computed if combiner and learner can work on the kernel itself (``Combiner.on_kernels``): on a
  full empirical map, a fit of ``ifsl`` needs one Cholesky factor for each kernel, and a grid needs
  one tridiagonal matrix (``TridiagonalSystem``).

For each view, the fitted model keeps a *projector*: columns, fitted map, and only the training
samples that the decision function needs. New samples are processed in blocks (``deciding.py``): a
``RowBlock`` holds the mapped columns of its samples, and decision functions that share maps use the
same block in turn.
"""
