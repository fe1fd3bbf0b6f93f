"""Templates of components, each a working plugin module, and of their test.

They are written to new packages with ``sketch``, ``Sketch`` and this package's name replaced; see
:mod:`mklkit_authors.writing`.
"""
