"""From a table with text, gaps and mixed units to numbers that kernels can compare.

Two steps go before the classifier, inside the same scikit-learn pipeline and so inside the saved
model: ``encode`` (one-hot columns for text, medians for gaps) and ``scale``.
"""

from mklkit.preprocessing.encoder import TableEncoder
from mklkit.preprocessing.identifiers import find_identifiers
from mklkit.preprocessing.pipeline import (
    Scale,
    build_pipeline,
    columns_needed,
    describe,
    encoder_in,
    preset_pipeline,
)
from mklkit.preprocessing.scaling import ScaledColumns

__all__ = [
    "Scale",
    "ScaledColumns",
    "TableEncoder",
    "build_pipeline",
    "columns_needed",
    "describe",
    "encoder_in",
    "find_identifiers",
    "preset_pipeline",
]
