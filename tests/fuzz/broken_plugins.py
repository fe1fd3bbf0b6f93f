"""Plugin packages as careless authors write them."""

from __future__ import annotations

from pathlib import Path
from textwrap import indent

from drawing import ODD_TEXTS, Draw
from helpers.processes import write_plugin

from mklkit.registry.entries import HOOKS, Kind

NAME = "fuzzed"

HEAD = """
from typing import ClassVar
import attrs
import numpy as np
from mklkit.plugin import *
from mklkit.plugin import hookimpl
"""

# Each kind: its base, its class attributes, its methods with what they return.
COMPONENTS: dict[str, tuple[str, tuple[str, ...], dict[str, str]]] = {
    "kernel": ("Kernel", (), {"fit(self, rows)": "Fitted()"}),
    "feature_map": (
        "FeatureMap",
        ("traits = FeatureMapTraits(explicit=True)",),
        {"fit(self, kernel, rows, random_state)": "Fitted()"},
    ),
    "learner": (
        "Learner",
        ("traits = LearnerTraits(on_gram=True)",),
        {"fit(self, side, y)": "LinearDecision(y / len(y), 0.0)"},
    ),
    "combiner": ("WeightingCombiner", (), {"weights(self, views, y)": "np.ones(len(views))"}),
    "missing": ("Missing", (), {"fit(self, kernel, rows)": "kernel"}),
}
FITTED = {
    "__call__(self, a, b)": "a @ b.T",
    "diagonal(self, a)": "(a**2).sum(axis=1)",
    "transform(self, rows)": "rows",
}

BODIES = (
    "return None",
    "return 'text'",
    "return self",
    "return np.full(3, np.nan)",
    "return np.zeros((0, 0))",
    "print('noise')\nreturn {right}",
    "raise SystemExit(3)",
    "raise ValueError('x' * 100_000)",
    "raise ValueError('\\x1b[31mred')",
    "raise StopIteration",
)
AT_IMPORT = (
    "import sys; sys.stdout.write('noise')",
    "import no_such_module_anywhere",
    "def (:",
    "import warnings; warnings.warn('old', DeprecationWarning)",
)
CLASS_LINES = (
    "__slots__ = ('a',)",
    "__doc__ = 5",
    "traits = FeatureMapTraits(explicit='no')",
    "traits = CombinerTraits(learner='none')",
    "traits = 5",
    "def __init__(self, needed): raise ValueError('never')",
    "traits = KernelTraits(definite=np.array([1, 2]))",
)
ANSWERS = (
    "None",
    "'text'",
    "[None]",
    "[Fuzzed()]",
    "Fuzzed",
    "[Fuzzed, Fuzzed]",
    "{'a': Fuzzed}",
    "(1 / 0 for _ in [1])",
    "[type('Odd', (), {'name': 'odd'})]",
)
NAMES = (NAME, "rbf", "uniform", "Fuzzed", 5, None, b"x", True, "a b", "a(b)", "a@b", "a:b", ".")


def install(draw: Draw, folder: Path) -> str:
    """Write a package into a folder that is to be put on the path; return where its fault is."""
    kind = draw.one_of(sorted(HOOKS))
    faulty = draw.one_of(["class", "class", "class", "fitted", "hook", "import"])
    source = HEAD
    if faulty == "import":
        source += f"{draw.one_of(AT_IMPORT)}\n"
    bases = draw.one_of(["FittedKernel, FittedMap", "object"])
    methods = _methods(draw, FITTED, faulty == "fitted")
    source += _class("Fitted", bases, ["explicit = True"], methods)
    source += _preset(draw) if kind == "preset" else _component(draw, kind, faulty == "class")
    source += _hook(draw, kind, faulty == "hook")
    write_plugin(folder, NAME, source)
    print(f"kind {kind}, fault in {faulty}\n{source[len(HEAD) :][:3000]}")
    return faulty


def _component(draw: Draw, kind: Kind, faulty: bool) -> str:
    base, attributes, methods = COMPONENTS[kind]
    name = draw.one_of([*NAMES, *ODD_TEXTS]) if faulty and draw.chance(0.3) else NAME
    lines = ['"""A component that means well."""', f"name = {name!r}", *attributes]
    if faulty:
        lines = [line for line in lines if draw.chance(0.85)]
        lines += draw.some_of(CLASS_LINES, most=1)
        base = draw.one_of([base, base, base, "object"])
    decorator = "" if faulty and draw.chance(0.3) else "@attrs.frozen\n"
    return decorator + _class("Fuzzed", base, lines, _methods(draw, methods, faulty))


def _preset(draw: Draw) -> str:
    right = [repr(NAME), "'A preset.'", "'uniform'", "('linear',)", "None", "None"]
    wrong = ["None", "5", "'none'", "[]", "('rbf(',)", "{}", "'x' * 5000", "object", "'\\x1b'"]
    arguments = [draw.one_of(wrong) if draw.chance(0.2) else value for value in right]
    return f"Fuzzed = Preset({', '.join(arguments)})\n"


def _methods(draw: Draw, right: dict[str, str], faulty: bool) -> list[str]:
    methods = []
    for signature, answer in right.items():
        head, body = signature, f"return {answer}"
        if faulty and draw.chance(0.5):
            body = draw.one_of(BODIES).format(right=answer)
        elif faulty and draw.chance(0.3):
            head = draw.one_of([f"{signature.split('(')[0]}(self)", "renamed(self, *all)"])
        methods.append(f"def {head}:\n{indent(body, '    ')}")
    return methods


def _class(name: str, base: str, lines: list[str], methods: list[str]) -> str:
    body = "\n".join([*lines, *methods]) or "pass"
    return f"class {name}({base}):\n{indent(body, '    ')}\n"


def _hook(draw: Draw, kind: Kind, faulty: bool) -> str:
    name, answer, marker, arguments = HOOKS[kind], "[Fuzzed]", "@hookimpl", ""
    if faulty:
        name = draw.one_of([name, name, name, "mklkit_kernel", "mklkit_model_types"])
        answer = draw.one_of([answer, *ANSWERS])
        marker = draw.one_of([marker, marker, marker, "", "@hookimpl(wrapper=True)"])
        arguments = draw.one_of(["", "", "", "registry", "*, x"])
    body = draw.one_of(BODIES).format(right=answer) if faulty and draw.chance(0.3) else None
    return f"{marker}\ndef {name}({arguments}):\n{indent(body or f'return {answer}', '    ')}\n"
