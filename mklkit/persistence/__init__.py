"""Model files: a fitted model and metadata about it, safe to load from untrusted sources.

A model file is a zip archive in the skops format (arrays and type names, no pickled code) with a
member ``mklkit.json`` that holds the metadata: versions, plugins, components, weights, data.

A model file may come from a stranger. Loading one never runs code stored in it, and takes memory
and time in proportion to the file. It holds registered components and a short list of
scikit-learn's types: scalers, encoders, imputers, selectors, linear models and what combines them
(``trust.py``). ``save_model`` names the step of a pipeline that has another type and writes
nothing, because compiled code of trees, neighbours or support vector machines follows the indices
in a file unchecked. Each node and each array's header is checked before it is read (``archive.py``,
``schema.py``), then the parameters and the indices that compiled code follows (``contents.py``),
and the model predicts a few samples (``trial.py``). If a loaded model still fails on the command
line, the error is about its file (``faults_of_file``).

Examples
--------
>>> import tempfile, pathlib
>>> from mklkit import MKLClassifier
>>> from mklkit.persistence import faults_of_file, load_model, read_metadata, save_model
>>> model = MKLClassifier("linear").fit([[0.0], [1.0]], ["no", "yes"])
>>> with tempfile.TemporaryDirectory() as folder:
...     path = pathlib.Path(folder, "model.mkl")
...     save_model(model, path, {"data": {"name": "toy"}})
...     restored, metadata = load_model(path), read_metadata(path)
>>> restored.predict([[0.9]]), metadata["data"]
(array(['yes'], dtype='<U3'), {'name': 'toy'})
"""

from mklkit.persistence.atomic import check_writable, replacing
from mklkit.persistence.metadata import json_ready
from mklkit.persistence.model_file import faults_of_file, load_model, read_metadata, save_model

__all__ = [
    "check_writable",
    "faults_of_file",
    "json_ready",
    "load_model",
    "read_metadata",
    "replacing",
    "save_model",
]
