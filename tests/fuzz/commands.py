"""Commands as users type them, right and wrong."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from drawing import ODD_NUMBERS, ODD_TEXTS, Draw, component, kernel_list

from mklkit import get_registry

COLUMNS = ("x0", "x1", "x*", "ward", "target")
DATA_NAMES = ("iris", "irs")  # the others take minutes with some combiners


def command(draw: Draw, data: Path, model: Path, folder: Path) -> list[str]:
    """Return the arguments of a command on a data file and a model file in the folder."""
    makers: list[Callable[[], list[str]]] = [
        *([lambda: ["fit", *_learning(draw, data), *_fitting(draw, folder)]] * 5),
        *([lambda: ["evaluate", *_learning(draw, data), *_folds(draw)]] * 2),
        *([lambda: ["predict", str(model), str(data), *_output(draw, folder)]] * 2),
        lambda: ["inspect", str(model), *_flags(draw, "--json")],
        lambda: ["kernels", str(data), *_kernels(draw), *_flags(draw, "--json", "--centered")],
        lambda: ["list", *draw.some_of(["kernels", "presets", "maps", "map", ""], most=1)],
        lambda: _plugin(draw, folder),
    ]
    arguments = draw.one_of(makers)()
    if draw.chance(0.08):
        arguments.insert(draw.whole(0, len(arguments)), draw.one_of(ODD_TEXTS))
    if draw.chance(0.04):
        del arguments[draw.whole(0, len(arguments) - 1)]
    if draw.chance(0.03):
        arguments += draw.some_of(["--help", "--version", "--nonsense", "-z", "--json=1"], 1, 1)
    # A shell hands over no NUL, and a name without a folder stays in the working one.
    return [argument.replace("\0", "") for argument in arguments]


def _learning(draw: Draw, data: Path) -> list[str]:
    names = [entry.name for entry in get_registry().entries("preset")]
    arguments = [draw.one_of([str(data)] * 30 + list(DATA_NAMES))]
    arguments += _kernels(draw)
    arguments += _option(draw, 0.4, "--combiner", [component(draw, "combiner")])
    arguments += _option(draw, 0.2, "--learner", [component(draw, "learner")])
    arguments += _option(draw, 0.2, "--feature-map", [component(draw, "feature_map")])
    arguments += _option(draw, 0.2, "--preset", names)
    arguments += _option(draw, 0.2, "--multiclass", ["ovo", "ovr", "native"])
    arguments += _option(draw, 0.2, "--scale", ["standard", "minmax", "none"])
    arguments += _option(draw, 0.2, "--target", ["target", "-1", "0", "x0", "99"])
    arguments += _option(draw, 0.2, "--seed", ["0", "7", "4294967295", "4294967296"])
    arguments += _option(draw, 0.1, "--jobs", ["1", "2", "-1"])
    return arguments + _flags(draw, "--json") + (["--tune", "fast"] if draw.chance(0.03) else [])


def _fitting(draw: Draw, folder: Path) -> list[str]:
    arguments = _option(draw, 0.3, "--holdout", ["0", "0.2", "0.5", "0.9"])
    if draw.chance(0.03):
        arguments += ["--plot", str(folder / draw.one_of(["w.png", "w.svg", "w.doc", "model.mkl"]))]
    return arguments + _output(draw, folder)


def _folds(draw: Draw) -> list[str]:
    folds = _option(draw, 0.4, "--folds", ["2", "3", "5", "40"])
    return folds + _option(draw, 0.2, "--repeats", ["1", "2"])


def _output(draw: Draw, folder: Path) -> list[str]:
    if not draw.chance(0.3):
        return []
    fine = ["out.mkl", "out.csv", "é.mkl", "model.mkl"]
    odd = ["", "folder", "folder/none/out.mkl", "x" * 300, "data.csv", "data.csv/x", "loop"]
    return ["-o", str(folder / draw.one_of(fine * 3 + odd))]


def _plugin(draw: Draw, folder: Path) -> list[str]:
    if draw.chance(0.3):
        return ["plugin", "check", draw.one_of([*ODD_TEXTS, "numpy", "mklkit-none"])]
    names = ["nearest-mean", "a", "rbf", "class", "x.y", "../x", "-", "A B", *ODD_TEXTS]
    kinds = ["weighting", "gating", "coupling", "fusion", "kernel", "map", "learner"]
    into = ["--into", str(folder / draw.one_of(["folder", "none", "data.csv", "x" * 300, "loop"]))]
    return ["plugin", "new", draw.one_of(names), *_option(draw, 0.5, "--template", kinds), *into]


def _kernels(draw: Draw) -> list[str]:
    if draw.chance(0.4):
        return []
    return [part for spec in kernel_list(draw, COLUMNS) for part in ("--kernel", spec)]


def _flags(draw: Draw, *names: str) -> list[str]:
    return [name for name in names if draw.chance(0.3)]


def _option(draw: Draw, share: float, name: str, right: Sequence[str]) -> list[str]:
    """Return an option with a value in that share of calls; one value in ten is a wrong one."""
    if not draw.chance(share):
        return []
    wrong = [str(number) for number in ODD_NUMBERS if name not in ("--jobs", "--repeats")]
    return [name, draw.one_of([*ODD_TEXTS, *wrong]) if draw.chance(0.1) else draw.one_of(right)]
