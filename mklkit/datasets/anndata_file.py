"""AnnData's files, and MuData's, which hold one of AnnData for each modality."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import attrs
import pandas as pd

from mklkit.datasets.columns import check_names
from mklkit.datasets.file_contents import UNNAMED, FileContents, in_rows, matrix_columns
from mklkit.datasets.paths import readable_as
from mklkit.errors import DataError, counted, listed, quoted, suggest
from mklkit.estimators.sources import as_source_name

OBS = "obs"
"""The source of the columns that describe samples, among them the outcomes."""

MATRIX, RAW = "X", "raw"


def read_anndata(path: Path, layer: str | None = None) -> FileContents:
    """Read the columns of ``obs`` and, as another source, the features of X or a ``layer``.

    The names of the samples are apart. ``raw`` is the layer of the features before a selection.
    """
    with _opened(path, "AnnData") as file:
        part = _Part.of(file, path.name)
        _check_layer(layer, part.layers, path.name)
        obs, features = part.obs, part.features(layer)
    both = [name for name in obs if name in features]
    if both:
        raise DataError(
            f"In {path.name}, {quoted(both[0])} is a column of obs and a feature: rename one."
        )
    frame = pd.concat([obs.reset_index(drop=True), features], axis=1)
    sources = {OBS: [*obs], as_source_name(layer or MATRIX, MATRIX): [*features]}
    return FileContents(frame, part.told(layer), _names_of_samples(obs, path.name), sources)


def read_mudata(path: Path, layer: str | None = None) -> FileContents:
    """Read the columns of ``obs``, and of each modality, as a source, those of X or a ``layer``.

    Features are named ``modality_feature``, and columns of a modality's own ``obs``
    ``modality:column``, as MuData does. A modality without the layer has X.
    """
    with _opened(path, "MuData") as file:
        if file.attrs.get("axis", 0) != 0:
            raise DataError(f"The modalities of {path.name} share features, not samples.")
        obs = _frame(file, OBS, path.name)
        order = file["mod"].attrs.get("mod-order", [*file["mod"]])
        parts = {
            str(name): _Part.of(file["mod"][name], f"{path.name}, modality {quoted(str(name))}")
            for name in order
        }
        every = dict.fromkeys(each for part in parts.values() for each in part.layers)
        _check_layer(layer, [*every], path.name)
        matrices = {name: part.features(layer) for name, part in parts.items()}
    return _joined(obs, parts, matrices, layer, path.name)


def _joined(
    obs: pd.DataFrame,
    parts: dict[str, _Part],
    matrices: dict[str, pd.DataFrame],
    layer: str | None,
    file: str,
) -> FileContents:
    """Return the features of modalities as sources beside the columns that describe samples."""
    ids = _names_of_samples(obs, file)
    described, tables = [obs.reset_index(drop=True)], []
    sources: dict[str, list[str]] = {}
    notes = []
    for name, part in parts.items():
        source = as_source_name(name, "modality")
        if source in sources or source == OBS:
            raise DataError(f"Two sources of {file} would be named {quoted(source)}: rename one.")
        sources[source] = [f"{source}_{feature}" for feature in matrices[name]]
        features = matrices[name].set_axis(sources[source], axis=1)
        tables.append(_of_samples(features, part.obs, ids))
        columns = part.obs.add_prefix(f"{name}:")
        columns = columns[[column for column in columns if column not in obs]]
        described.append(_of_samples(columns, part.obs, ids))
        if len(part.obs) < len(ids):
            notes.append(f"{source}: {len(part.obs)} of {counted(len(ids), 'sample')}")
        notes += [f"{source}: {note}" for note in part.told(layer)]
    of_obs = [str(column) for table in described for column in table]
    frame = pd.concat([*described, *tables], axis=1)
    return FileContents(frame, notes, ids, {OBS: of_obs, **sources})


def columns_in(path: Path) -> list[str]:
    """Return the names of the columns of ``obs``."""
    import h5py

    with h5py.File(path) as file:
        return [str(name) for name in file[OBS].attrs["column-order"]]


@attrs.frozen(eq=False)
class _Part:
    """AnnData in a file: a group of HDF5, the columns of its ``obs``, and its layers."""

    group: Any
    place: str
    obs: pd.DataFrame
    layers: list[str]

    @classmethod
    def of(cls, group: Any, place: str) -> _Part:
        """Read what describes the samples."""
        layers = [str(name) for name in group.get("layers", {})]
        return cls(group, place, _frame(group, OBS, place), [*layers, *([RAW] * (RAW in group))])

    def features(self, layer: str | None) -> pd.DataFrame:
        """Return the values of X, or of a layer if there is such a one, under their names."""
        from anndata.io import read_elem

        layer = layer if layer in self.layers else None
        place, names = MATRIX, "var"
        if layer is not None:
            place = f"layers/{layer}"
        if layer == RAW:
            place, names = f"{RAW}/{MATRIX}", f"{RAW}/var"
        if place not in self.group:
            raise DataError(
                f"{self.place} has no X. {_told(self.layers)} Name one after the file, as in"
                " cells.h5ad:counts."
            )
        values = read_elem(self.group[place])
        features = _frame(self.group, names, self.place).index.astype(str)
        twice = features[features.duplicated()]
        if len(twice):
            raise DataError(
                f"{self.place} has several features {quoted(twice[0])}: make their names unique,"
                " as with var_names_make_unique()."
            )
        if values.shape != (len(self.obs), len(features)):
            raise ValueError(f"{place} has the shape {values.shape}")
        return matrix_columns(values, features.tolist())

    def told(self, layer: str | None) -> list[str]:
        """Return a note on layers, if there are any to choose from."""
        used = layer if layer in self.layers else MATRIX
        others = [name for name in (MATRIX, *self.layers) if name != used]
        return [f"features are those of {used}; others: {listed(others)}"] if self.layers else []


def _told(layers: Sequence[str]) -> str:
    return f"Its layers: {listed([*layers]) or 'none'}."


def _check_layer(layer: str | None, layers: Sequence[str], file: str) -> None:
    """Raise an error that lists the layers if there is none of this name."""
    if layer not in (None, MATRIX, *layers):
        raise DataError(
            f"{file} has no layer {quoted(str(layer))}.{suggest(str(layer), layers)}"
            f" {_told(layers)} Without a name, features are those of X."
        )


def _frame(group: Any, key: str, place: str) -> pd.DataFrame:
    """Read a data frame of a file, with names of text; one named twice raises an error."""
    from anndata.io import read_elem

    frame = read_elem(group[key])
    if not isinstance(frame, pd.DataFrame):
        raise ValueError(f"{key} is no data frame")
    check_names([*frame.columns], f"{key} of {place}")
    return frame.set_axis([str(name) for name in frame.columns], axis=1)


def _names_of_samples(obs: pd.DataFrame, file: str) -> pd.Series:
    """Return the names of the samples in ``obs``, which must be unique, under their own name."""
    names = obs.index.astype(str)
    twice = names[names.duplicated()]
    if len(twice):
        raise DataError(
            f"{file} has several samples {quoted(twice[0])}: make their names unique, as with"
            " obs_names_make_unique()."
        )
    known = None if obs.index.name in (None, "", "_index", "index") else str(obs.index.name)
    return pd.Series(names.to_numpy(object), name=known or UNNAMED)


def _of_samples(table: pd.DataFrame, part: pd.DataFrame, ids: pd.Series) -> pd.DataFrame:
    """Return a modality's rows in the order of all samples, without values where it has none."""
    samples = part.index.astype(str)
    if samples.tolist() == ids.tolist():
        return table.reset_index(drop=True)
    return in_rows(table.set_axis(samples, axis=0), pd.Index(ids)).reset_index(drop=True)


@contextmanager
def _opened(path: Path, kind: str) -> Iterator[Any]:
    """Open a file of HDF5, with errors of its reader, or its absence, as a ``DataError``."""
    try:
        import h5py
        from anndata.io import read_elem  # noqa: F401
    except ImportError as error:
        raise DataError(
            f"Reading {path.name} needs anndata 0.11 or newer: pip install anndata."
        ) from error
    with readable_as(path, kind), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of what a later version will read otherwise
        with h5py.File(path) as file:
            yield file
