"""The table of kernel weights on terminals of any width."""

from __future__ import annotations

import pytest
from processes import Fitted, Run

NAMES = ("cosine_linear", "rbf", "cosine_polynomial")


def rows_of(mklkit: Run, fitted: Fitted, command: str, width: int) -> list[str]:
    """Return the table's line for each kernel, having checked that no line is too long."""
    source = fitted.model if command == "inspect" else fitted.data
    more = ("-c", "dimkl3") if command == "fit" else ()
    done = mklkit(command, source, *more, COLUMNS=str(width))
    assert done.code == 0, done
    table = done.out[done.out.index("weight") :]
    assert all(len(line) <= width for line in table.splitlines())
    rows = [line.split("   ") for line in table.splitlines()]
    return [
        next(" ".join(row) for row in rows if row[0].strip().startswith(name)) for name in NAMES
    ]


@pytest.mark.parametrize("command", ["fit", "inspect"])
@pytest.mark.parametrize("width", [40, pytest.param(60, marks=pytest.mark.slow), 80, 160])
def test_names_and_weights_stay(mklkit: Run, fitted: Fitted, command: str, width: int) -> None:
    weights: dict[str, list[float]] = {name: [] for name in NAMES}
    for row in mklkit("inspect", fitted.model, "--json").json["model"]["weights"]:
        weights[row["kernel"]].append(row["weight"])
    for name, line in zip(NAMES, rows_of(mklkit, fitted, command, width), strict=True):
        mean = sum(weights[name]) / len(weights[name])
        assert line.split()[:2] == [name, f"{mean:.3f}"]


@pytest.mark.parametrize(
    ("width", "shows_range", "shows_bar"),
    [(40, False, False), (55, True, False), (80, True, True), (160, True, True)],
)
def test_the_bar_goes_first_then_the_range(
    mklkit: Run, fitted: Fitted, width: int, shows_range: bool, shows_bar: bool
) -> None:
    lines = rows_of(mklkit, fitted, "inspect", width)
    assert all((" to " in line) == shows_range for line in lines)
    assert any("█" in line or "#" in line for line in lines) == shows_bar


def test_a_name_too_long_is_folded_and_whole(mklkit: Run) -> None:
    name = "a" * 20 + "b" * 20 + "c" * 20
    done = mklkit("fit", "iris", "-k", f"{name}:linear", "-k", "rbf", COLUMNS="40")
    table = done.out[done.out.index("weight") :]
    column = "".join(line.strip().split(" ")[0] for line in table.splitlines()[:6])
    assert name in column
    assert "0.500" in table
