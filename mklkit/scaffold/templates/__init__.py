"""Components to start from, each a working plugin module, and the test of one.

They are written out with ``sketch``, ``Sketch`` and this package's name replaced; see
:mod:`mklkit.scaffold.writing`.
"""
