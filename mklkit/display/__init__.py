"""The display of results in notebooks: HTML from templates, tables with bars, and progress.

Nothing here depends on kernels; each result provides the content to show.

A number is formatted in one place, ``numbers.py``. Every table of results is a ``ResultTable``
(``table.py``): rows of raw values, and columns that know how to write them. It is declared beside
its result (``evaluation/result_tables.py``, those of ``explanation`` and ``comparison``, and
``estimators/weights_table.py``) and rendered for terminals (``terminal.py``), notebooks and pages
(``html.py``), LaTeX (``latex.py``) and data frames. ``tests/display/test_renderers_agree.py``
compares the cells of all tables in all renderers.

The ``_repr_html_`` of a result is made of parts in ``html.py``: static HTML in the notebook's
colours, with all text escaped by jinja2. Estimators derive from ``ShowsKernels``
(``estimators/showing.py``), which adds a ``KernelSummary`` below scikit-learn's diagram: what was
fitted, or what ``fit`` would use. A display never raises: an error is shown in its place.

Long computations report progress to the function that ``reported`` (``progress.py``) yields: the
user's function, a bar below the notebook cell, on request a bar in the terminal, or nothing. Work
whose ``progress`` is None reports to the function of a surrounding ``reporting_to``, as the fit
inside a pipeline of ``mklkit fit`` does. Only the outermost computation has a bar; a search inside
a comparison is silent.
"""
