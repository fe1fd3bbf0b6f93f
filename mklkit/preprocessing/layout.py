"""The names of an encoder's output columns, and their places."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mklkit.preprocessing.dates import DAYS

if TYPE_CHECKING:
    from mklkit.preprocessing.encoder import TableEncoder

__all__ = ["lay_out_columns"]


def lay_out_columns(encoder: TableEncoder) -> None:
    """Name the output columns and settle their places, in the order of the input."""
    # Of each input its outputs, with their place among the numbers, or None for text.
    outputs: dict[str, list[tuple[str, int | None]]] = {}
    for number, (name, part) in enumerate(encoder._number_columns):
        column = name if part in ("", DAYS) else f"{name}_{part}"
        outputs.setdefault(name, []).append((column, number))
    if encoder.text_:
        numbered = [str(place) for place in range(len(encoder.text_))]
        for coded in encoder.one_hot_.get_feature_names_out(numbered):
            place, _, value = coded.partition("_")
            value = "other" if value == "infrequent_sklearn" else value
            name = encoder.text_[int(place)]
            outputs.setdefault(name, []).append((f"{name}_{value}", None))
    own = {*encoder.numeric_, *encoder.dates_}
    taken = set(own)
    encoder.feature_names_out_ = []
    encoder.sources_ = []
    encoder._numeric_places = [0] * len(encoder._number_columns)
    encoder._text_places = []
    for name in encoder.feature_names_in_:
        for column, index in outputs.get(name, []):
            if index is None:
                encoder._text_places.append(len(encoder.sources_))
            else:
                encoder._numeric_places[index] = len(encoder.sources_)
            keeps_name = name in own and column == name
            encoder.feature_names_out_.append(column if keeps_name else _unique(column, taken))
            encoder.sources_.append(name)


def _unique(name: str, taken: set[str]) -> str:
    """Return the name, numbered apart where another column has it, and take it."""
    unique, number = name, 1
    while unique in taken:
        number += 1
        unique = f"{name}_{number}"
    taken.add(unique)
    return unique
