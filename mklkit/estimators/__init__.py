"""From components to scikit-learn estimators.

``fit`` of an estimator calls two functions of ``fit.py``, ``plan_and_read`` and ``fit_problems``.
The plan is immutable: the schema, the bound kernels, the map, the combiner and the learner. The
data are ``Rows`` and a ``Target``. Several classes become binary problems (``problems.py``), or one
problem if the learner learns one-hot targets. Code that the estimators of all tasks share is in
``base.py``.

A fit ends with finite numbers or an error. Each fit is followed by a check of the decision values
of its training samples, of at most 16,384, or of 1,024 on a Gram matrix. If they overflow, the
error names the kernel and a remedy.

**Sources and kernels that are chosen.** Which columns a source has is decided in ``sources.py``
alone: by the names of columns (``Contents``), or by the label of a kernel that names no columns
(``with_columns_of_labels``). ``sources_told`` gives the sources to the schema of a table, so that
the encoder keeps the missing values of samples that miss a source. ``kernels_of_sources`` names the
columns of the kernels of a mapping that has to become one table, as in ``cross_validate``,
``compare`` and ``explain``.

A kernel to be chosen (``"auto"``, ``"text:auto@text_*"``) is a ``BoundKernel`` with ``auto=True``.
Until it is chosen, its source has the kernel that it is read with, so that the schema and missing
sources need no other mechanism. ``with_kernels`` (``fit.py``) then replaces it in the plan, before
problems and views are made, along with the learner if the user named none. The plan keeps the
kernels from before as its ``sources``, because an explanation chooses again among all of them in
every fold. The choice itself is in ``proposing.py``: the candidates are the spec strings that
registered kernels declare for what the columns hold (``KernelTraits.proposed``), and a ``Judge``
computes their leave-one-out errors for all classes or targets at once, with sample weights, groups
and missing sources, and with landmarks for many samples.

**Searches.** Components declare the parameters worth trying in their traits (``search_space``),
from the simplest model to the most complex one. ``grids.py`` makes grids of them. A search is one
loop over splits and points (``fold_scores.py``). Points of a numeric target or of one class are
fitted one by one, as estimators (``separate_fits.py``). Points of a classifier share views
(``shared_fits.py``), and those that differ only in parameters that their combiner can vary within
one fit are fitted together: such a combiner has ``grid_parameters(learner)``, the nested names of
these parameters, and ``fit_grid(views, target, learner, points, random_state)``, which returns the
same decisions as separate fits. A combiner that overrides only ``fit`` is fitted point by point
(``fits_grids`` in ``variants.py``). Searches and comparisons pass their ``Cache`` to
``fit_sharing``; ``fit`` makes its own.
"""
