"""The kernels that a user names, and the columns of each.

Columns are a glob or list of names, a slice, or positions.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence, Sized
from contextlib import suppress
from fnmatch import fnmatchcase
from functools import lru_cache
from itertools import zip_longest
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from mklkit.errors import DataError, MKLKitError, SpecError, quoted, suggest
from mklkit.protocols import KernelTraits, Reads, traits_of
from mklkit.protocols.component import KERNELS, USUAL_KERNEL
from mklkit.registry.composing import default_instances
from mklkit.registry.matrices import as_kernel, label_of
from mklkit.registry.registry import Registry, get_registry
from mklkit.registry.specs import parse_kernel_spec
from mklkit.views.bound_kernels import BoundKernel
from mklkit.views.scaling import scaling_named

AUTO_KERNELS = "auto"
"""In place of a kernel: one chosen from the training samples for each source."""

# Longer numbers exceed any possible number of columns, and Python refuses to read some.
_SLICE = re.compile(r"(-?\d{1,18})?:(-?\d{1,18})?", re.ASCII)
_POSITION = re.compile(r"-?\d{1,18}", re.ASCII)


def bind_kernels(kernels: Any) -> list[BoundKernel]:
    """Return the kernels with unique labels; ``columns`` are not resolved yet.

    Kernels are spec strings (``"label:rbf(sigma='mean')[scale]@columns"``), kernels, matrices of
    all rows, functions of two arrays of rows, or a list of these and of ``(label, kernel, columns,
    scale)``; None stands for the default ones. ``"label:auto@columns"``, or ``"label@columns"``, is
    a source whose kernel and scale are chosen from the training samples. A label is the user's,
    else the spec string as typed, or all parameters of an object, so that it does not change with a
    default. Repeated labels are numbered.

    Examples
    --------
    >>> [(k.label, k.columns) for k in bind_kernels(["linear", "fou:rbf@fou_*"])]
    [('linear', None), ('fou', 'fou_*')]
    """
    bound: list[BoundKernel] = []
    for value in kernel_list(kernels):
        spec = isinstance(value, str)
        kernel = _bound_spec(get_registry(), value) if spec else _bind(value)
        if spec and kernel.reads == "row ids":
            kernel = _bind(value)  # The file with its matrix may have changed.
        if kernel.scale is not None:
            scaling_named(kernel.scale, f" of kernel {quoted(kernel.label)}")
        bound.append(kernel)
    return with_unique_labels(bound)


def with_unique_labels(kernels: Iterable[BoundKernel]) -> list[BoundKernel]:
    """Return kernels with numbers after repeated labels."""
    unique: dict[str, BoundKernel] = {}
    for kernel in kernels:
        label = kernel.label
        count = 1
        while label in unique:
            count += 1
            label = f"{kernel.label} #{count}"
        unique[label] = kernel if count == 1 else attrs.evolve(kernel, label=label)
    return list(unique.values())


def kernel_list(kernels: Any) -> list[Any]:
    """Return the kernels of an estimator as a list, as the user gave them."""
    if kernels is None:
        kernels = KERNELS
    if isinstance(kernels, np.ndarray) and kernels.ndim == 3:  # (M, N, N)
        kernels = list(kernels)
    if isinstance(kernels, str) or not isinstance(kernels, Sequence):
        kernels = [kernels]
    if len(kernels) == 0:
        raise SpecError("Expected at least one kernel, got an empty list.")
    return list(kernels)


def are_proposed(kernels: Any) -> bool:
    """Return whether ``fit`` chooses some of the kernels; those that can't be made are left to it.

    Examples
    --------
    >>> are_proposed("auto"), are_proposed(["text:auto@text_*", "rbf"]), are_proposed("rbf")
    (True, True, False)
    """
    if kernels is None:
        return False
    with suppress(MKLKitError):
        return any(bound.auto for bound in bind_kernels(kernels))
    return False


def refuse_auto(kernels: Sequence[BoundKernel], reason: str) -> None:
    """Raise a ``SpecError`` if a kernel is to be chosen, where nothing could choose it."""
    label = next((bound.label for bound in kernels if bound.auto), None)
    if label is not None:
        raise SpecError(
            f"Kernel {quoted(label)} is to be chosen from training samples and their targets, and"
            f" {reason}: name the kernel."
        )


def proposed_kernels(reads: Reads) -> list[BoundKernel]:
    """Return the kernels that registered ones propose for columns of this kind, the usual first."""
    registry = get_registry()
    by_kernel: list[tuple[str, ...]] = []
    bound: dict[str, BoundKernel] = {}
    for kernel in default_instances(registry, "kernel"):
        traits = traits_of(kernel, KernelTraits)
        proposed = traits.proposed if traits.reads == reads else ()
        for spec in proposed:
            try:
                bound[spec] = _bound_spec(registry, spec)
            except SpecError as error:
                raise SpecError(
                    f"Kernel {kernel.name!r} proposes {quoted(spec)} for kernels='auto': {error}"
                ) from error
        by_kernel.append(proposed)
    usual = [USUAL_KERNEL] if USUAL_KERNEL in bound else []
    others = (spec for rank in zip_longest(*by_kernel) for spec in rank if spec is not None)
    return [bound[spec] for spec in dict.fromkeys([*usual, *others])]


Parts = tuple[str | None, Any, Any, str | None]
"""The label (None where none was given), kernel, columns and scale of a kernel."""


def parts_of(value: Any) -> Parts:
    """Return the label (None where none was given), kernel, columns and scale of one kernel."""
    if isinstance(value, BoundKernel):
        if value.auto:  # The scale is chosen with the kernel.
            return value.label, AUTO_KERNELS, value.columns, None
        scale = value.scale if value.scaling is None else value.scaling.name
        return value.label, value.kernel, value.columns, scale
    if isinstance(value, tuple):
        if len(value) not in (2, 3, 4) or not isinstance(value[0], str | None):
            raise SpecError(f"Expected (label, kernel, columns, scale), got {quoted(value)}.")
        columns = value[2] if len(value) > 2 else None
        return value[0], value[1], columns, value[3] if len(value) > 3 else None
    if isinstance(value, str):
        spec = parse_kernel_spec(value)
        return spec.label, spec.spec, spec.columns, spec.scale
    return None, value, None, None


def _bind(value: Any) -> BoundKernel:
    label, spec, columns, scale = parts_of(value)
    if isinstance(spec, str) and spec == AUTO_KERNELS:
        return _chosen_later(label, columns, scale)
    may_be_source = label is None and columns is not None and isinstance(spec, str)
    if may_be_source and _is_source(spec, columns):
        return _chosen_later(spec, columns, scale)
    kernel = as_kernel(spec)
    if label is None:
        label = spec if isinstance(spec, str) else label_of(kernel)
        label += "" if scale is None else f"[{scale}]"
        label += f"@{columns}" if isinstance(columns, str) else ""
    return BoundKernel(label, kernel, columns, scale=scale)


def _chosen_later(label: str | None, columns: Any, scale: str | None) -> BoundKernel:
    """Return a source whose kernel is chosen from the training samples."""
    if scale is not None:
        raise SpecError(
            f"What is done to columns is chosen with the kernel: leave out [{scale}], or name the"
            " kernel."
        )
    name = AUTO_KERNELS if columns is None else f"{AUTO_KERNELS}@{columns}"
    usual = parse_kernel_spec(USUAL_KERNEL)
    return BoundKernel(label or name, as_kernel(usual.spec), columns, scale=usual.scale, auto=True)


def _is_source(spec: str, columns: Any) -> bool:
    """Return whether a spec string is the name of a source: no kernel has such a name.

    It may be similar to a kernel's name, as ``prot`` to ``product``, if its columns begin with it.
    """
    names = [entry.name for entry in get_registry().entries("kernel")]
    if not spec.isidentifier() or spec in names:
        return False
    first = columns if isinstance(columns, str) else next(iter(columns), None)
    begins_with_it = isinstance(first, str) and first.startswith(f"{spec}_")
    return begins_with_it or not suggest(spec, names)


@lru_cache(maxsize=256)
def _bound_spec(registry: Registry, spec: str) -> BoundKernel:
    """Return the kernel of a spec string, which is parsed once."""
    return _bind(spec)


def resolve_columns(
    selector: Any, n_features: int, names: Sequence[str] | None
) -> NDArray[np.intp] | None:
    """Return the positions of the columns that a selector names, or None for all of them.

    A selector is None, a string, a position, a slice, or a sequence of names, positions or
    booleans, one per feature. A string is a name, or a comma-separated list of names, globs
    (``fou_*``) or slices (``0:10``). A name that is not a column selects the columns derived from
    it, such as ``site`` for ``site_north`` and ``site_south``. Missing columns raise a DataError.

    Examples
    --------
    >>> resolve_columns("a*,c", 3, ["a1", "b", "c"])
    array([0, 2])
    >>> resolve_columns("site", 3, ["age", "site_north", "site_south"])
    array([1, 2])
    >>> resolve_columns(slice(0, 2), 3, None)
    array([0, 1])
    """
    if selector is None:
        return None
    everything = np.arange(n_features)
    if isinstance(selector, slice):
        bounds = (selector.start, selector.stop, selector.step)
        if not all(bound is None or isinstance(bound, (int, np.integer)) for bound in bounds):
            raise DataError(
                f"Slices of columns are by position, as in slice(0, 10); got {quoted(selector)}."
                " Name columns with a list or a glob, such as 'a_*'."
            )
        chosen = everything[selector]
    elif _is_mask(selector):
        mask = np.asarray(selector)
        if mask.shape != (n_features,):
            raise DataError(
                f"A mask of columns has one value per feature, {n_features}; got {mask.size}."
            )
        chosen = everything[mask]
    else:
        parts = _parts(selector, names)
        by_name: dict[str, list[int]] = {}
        for place, name in enumerate(names if names is not None and len(parts) > 1 else ()):
            by_name.setdefault(name, []).append(place)
        positions = [
            (isinstance(part, str) and by_name.get(part.strip()))
            or _positions(part, everything, names)
            for part in parts
        ]
        chosen = np.array([position for part in positions for position in part], dtype=np.intp)
    if len(chosen) == 0:
        raise DataError(f"The columns {quoted(selector)} select none of the {n_features} features.")
    chosen = np.array(list(dict.fromkeys(chosen.tolist())), dtype=np.intp)
    return None if np.array_equal(chosen, everything) else chosen


def _is_mask(selector: Any) -> bool:
    if isinstance(selector, str) or not isinstance(selector, Sized) or len(selector) == 0:
        return False
    values: Any = selector
    return all(isinstance(value, (bool, np.bool_)) for value in values)


def _parts(selector: Any, names: Sequence[str] | None) -> list[Any]:
    """Return the single names, globs or positions of a selector."""
    if isinstance(selector, (int, np.integer)):
        return [selector]
    if isinstance(selector, str):
        # A name may contain a comma itself.
        return [selector] if names is not None and selector in names else selector.split(",")
    if not isinstance(selector, Iterable):
        raise DataError(
            "Columns are chosen by names, globs, positions, a slice or a mask; got"
            f" {quoted(selector)}."
        )
    return list(selector)


def _positions(
    part: Any, everything: NDArray[np.intp], names: Sequence[str] | None
) -> Sequence[int]:
    if isinstance(part, (int, np.integer)) and not isinstance(part, bool):
        if not -len(everything) <= part < len(everything):
            raise DataError(
                f"Column {quoted(part)} was requested, but there are {len(everything)}."
            )
        return [int(everything[part])]
    text = str(part).strip()
    if names is not None:
        places = list(enumerate(names))
        matches = [i for i, name in places if name == text]
        matches = matches or [i for i, name in places if fnmatchcase(name, text)]
        # The name of a one-hot column consists of its source column and its value.
        matches = matches or [i for i, name in places if text and name.startswith(f"{text}_")]
        if matches:
            return matches
    match = _SLICE.fullmatch(text)
    if match is not None:
        bounds = (int(bound) if bound else None for bound in match.groups())
        return everything[slice(*bounds)].tolist()
    if _POSITION.fullmatch(text):
        return _positions(int(text), everything, names)
    if names is None:
        raise DataError(
            f"The columns {quoted(text)} are selected by name, but the data have no feature names:"
            " pass a DataFrame, or select by position (0:10)."
        )
    # A single name in place of a glob would silently choose one column of many.
    candidates = _shared_globs(names) if "*" in text else names
    raise DataError(f"No column is named {quoted(text)}.{suggest(text, candidates)}")


def _shared_globs(names: Sequence[str]) -> list[str]:
    """Return globs such as ``lab_*`` that each match several columns with the same prefix."""
    prefixes = [
        name[: place.end()] for name in map(str, names) for place in re.finditer("[_ .-]", name)
    ]
    return [f"{prefix}*" for prefix, number in Counter(prefixes).items() if number > 1]
