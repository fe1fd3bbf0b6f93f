"""Model files: a fitted model and metadata about it, safe to load from untrusted sources.

A model file is a zip archive in the skops format (arrays and type names, no pickled code) with a
member ``mklkit.json`` that holds the metadata: versions, plugins, components, weights, data.

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
