"""Data files of every format, whole and damaged."""

from __future__ import annotations

import gzip
import io
import os
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from drawing import ODD_TEXTS, Draw, labels_for, rows_of

ENDINGS = (
    *(".csv", ".csv", ".csv", ".tsv", ".csv.gz", ".parquet", ".pq", ".arff", ".arff"),
    *(".libsvm", ".svm", ".libsvm.gz", ".npz", ".npz", ".feather"),
)
CELLS = (
    *("", "?", "NA", "nan", "inf", "-inf", "1e400", "9" * 400, "1,200", "−1", "é", " ", "\x00"),
    *('"', "'", "{", "2020-01-31", "12:30", "true", "x" * 3000, "=1+1", "0x1", "\udcff", "%"),
)


def write_data(draw: Draw, folder: Path) -> Path:
    """Write a data file into the folder, perhaps a damaged one, and return its path."""
    path = folder / f"data{draw.one_of(ENDINGS)}"
    frame = _frame(draw)
    path.write_bytes(_bytes_of(draw, frame, path.name))
    if draw.chance(0.25):
        path.write_bytes(damaged(draw, path.read_bytes()))
    if draw.chance(0.05):
        path = path.rename(folder / f"data{draw.one_of([*ENDINGS, '', '.txt', '.CSV'])}")
    return path


def write_odd_path(draw: Draw, folder: Path) -> Path:
    """Make something that is no data or model file at all, and return its path."""
    path = folder / f"odd{draw.one_of(['', '.csv', '.mkl', '.npz', '.arff'])}"
    kind = draw.one_of(["missing", "folder", "empty", "loop", "pipe", "inside a file"])
    if kind == "folder":
        path.mkdir()
    elif kind == "empty":
        path.touch()
    elif kind == "loop":
        path.symlink_to(path)
    elif kind == "pipe" and hasattr(os, "mkfifo"):
        os.mkfifo(path)
    elif kind == "inside a file":
        path.write_text("a,target\n1,2\n")
        path /= "x.csv"
    return path


def damaged(draw: Draw, whole: bytes) -> bytes:
    """Return the bytes cut short, changed here and there, or with others put in."""
    content = bytearray(whole)
    for _ in range(draw.whole(1, 3)):
        place = draw.whole(0, len(content))
        way = draw.one_of(["cut", "flip", "insert", "repeat", "zero"])
        if way == "cut":
            del content[place:]
        elif way == "flip" and place < len(content):
            content[place] ^= 1 << draw.whole(0, 7)
        elif way == "insert":
            content[place:place] = draw.one_of(CELLS).encode("utf-8", "surrogateescape")
        elif way == "repeat":
            content[place:place] = content[place : place + 200]
        else:
            end = min(place + 8, len(content))
            content[place:end] = bytes(end - place)
    return bytes(content)


def _frame(draw: Draw) -> pd.DataFrame:
    labels = labels_for(draw)
    rows = rows_of(draw, labels)
    frame = pd.DataFrame(rows, columns=[f"x{i}" for i in range(rows.shape[1])])
    for kind in draw.some_of(["text", "gaps", "cells", "dates", "name", "ids"], most=2):
        frame = _odd(draw, frame, kind)
    place = draw.whole(0, frame.shape[1]) if draw.chance(0.2) else frame.shape[1]
    frame.insert(place, "target", labels, allow_duplicates=True)
    if draw.chance(0.05):
        frame = frame.iloc[: draw.whole(0, 2)]
    return frame


def _odd(draw: Draw, frame: pd.DataFrame, kind: str) -> pd.DataFrame:
    if kind == "text":
        return frame.assign(ward=[draw.one_of(["north", "south", "", None]) for _ in frame.index])
    if kind == "gaps":
        return frame.mask(draw.numpy.random(frame.shape) < draw.one_of([0.1, 0.5, 1.0]))
    if kind == "cells":
        name = draw.one_of(list(frame.columns))
        values = frame[name].astype(object)
        for _ in range(draw.whole(1, 3)):
            values.iloc[draw.whole(0, len(frame) - 1)] = draw.one_of(CELLS)
        return frame.assign(**{name: values})
    if kind == "dates":
        days = pd.Timestamp("2020-01-31") + pd.to_timedelta(np.arange(len(frame)), "D")
        return frame.assign(seen=days if draw.chance(0.5) else days.astype(str))
    if kind == "name":
        # As objects: what is no Unicode can't be text in Arrow.
        names = [draw.one_of([*ODD_TEXTS, "target", "x1"]), *frame.columns[1:]]
        return frame.set_axis(pd.Index(names, dtype=object), axis=1)
    return frame.assign(id=[f"row {number}" for number in range(len(frame))])


def _bytes_of(draw: Draw, frame: pd.DataFrame, name: str) -> bytes:
    if name.endswith((".parquet", ".pq")):
        return _parquet(frame)
    if name.endswith(".feather"):
        return _feather(frame)
    if name.endswith(".npz"):
        return _npz(draw, frame)
    if name.endswith(".arff"):
        return _arff(frame)
    if ".libsvm" in name or name.endswith(".svm"):
        return _packed(_libsvm(draw, frame), name)
    separator = "\t" if ".tsv" in name else draw.one_of([",", ",", ";", "|", "\t", " "])
    text = frame.to_csv(index=False, sep=separator, header=not draw.chance(0.05))
    encoding = draw.one_of(["utf-8", "utf-8", "utf-8-sig", "utf-16", "latin-1"])
    handling = "surrogateescape" if encoding.startswith("utf-8") else "replace"
    return _packed(text.encode(encoding, handling), name)


def _packed(content: bytes, name: str) -> bytes:
    return gzip.compress(content, mtime=0) if name.endswith(".gz") else content


def _parquet(frame: pd.DataFrame) -> bytes:
    buffer = io.BytesIO()
    frame = frame.loc[:, ~frame.columns.duplicated()]
    try:
        frame.to_parquet(buffer)
    except (ValueError, TypeError):  # a column that mixes types, or text that is no UTF-8
        text = frame.map(ascii)
        text.set_axis([f"c{i}" for i in range(text.shape[1])], axis=1).to_parquet(buffer)
    return buffer.getvalue()


def _feather(frame: pd.DataFrame) -> bytes:
    buffer = io.BytesIO()
    pd.read_parquet(io.BytesIO(_parquet(frame))).reset_index(drop=True).to_feather(buffer)
    return buffer.getvalue()


def _npz(draw: Draw, frame: pd.DataFrame) -> bytes:
    rows = frame.select_dtypes("number").to_numpy()
    kind: Any = draw.one_of([None, None, None, ">f8", "f2", "c16", "O", "S5", "V8", "M8[D]", "i1"])
    with np.errstate(all="ignore"):
        try:
            rows = rows if kind is None else rows.astype(kind)
        except (TypeError, ValueError):  # NumPy knows no way from the one to the other
            rows = np.zeros(rows.shape, kind)
    labels = frame["target"].to_numpy()
    arrays: dict[str, Any] = {
        draw.one_of(["X", "X", "X", "data", "x"]): draw.one_of([rows, rows, rows, rows[..., None]]),
        draw.one_of(["y", "y", "target", "z"]): draw.one_of([labels.astype(str)] * 9 + [labels]),
    }
    if draw.chance(0.2):
        arrays["feature_names"] = np.array(draw.some_of(["a", "b", "é", ""], most=5), dtype=str)
    buffer = io.BytesIO()
    np.savez(buffer, allow_pickle=True, **arrays)
    return buffer.getvalue()


def _arff(frame: pd.DataFrame) -> bytes:
    kinds = [
        "numeric" if pd.api.types.is_numeric_dtype(dtype) else "string" for dtype in frame.dtypes
    ]
    labels = ",".join(f"'{label}'" for label in frame["target"].drop_duplicates())
    kinds[-1] = f"{{{labels}}}"
    pairs = zip(frame.columns, kinds, strict=True)
    head = "".join(f"@attribute '{name}' {kind}\n" for name, kind in pairs)
    body = frame.to_csv(index=False, header=False, na_rep="?", quotechar="'")
    return f"@relation fuzz\n{head}@data\n{body}".encode("utf-8", "surrogateescape")


def _libsvm(draw: Draw, frame: pd.DataFrame) -> bytes:
    rows = frame.select_dtypes("number")
    codes = pd.factorize(frame["target"].to_numpy().ravel()[: len(frame)])[0]
    first = draw.whole(0, 1)
    lines = [
        " ".join([str(code), *(f"{first + i}:{value}" for i, value in enumerate(row) if value)])
        for code, row in zip(codes, rows.to_numpy(), strict=True)
    ]
    if draw.chance(0.2):
        index = draw.one_of([0, -1, 100_000, 2**31, 2**63, 10**30])
        lines.append(f"1 {index}:{draw.one_of(CELLS)}")
    return "\n".join([*lines, ""]).encode("utf-8", "surrogateescape")
