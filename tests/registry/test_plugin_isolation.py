"""What a plugin sets for the whole process is undone and named; what it raises never escapes."""

from __future__ import annotations

import locale
import os
import random
import signal
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from installed import GOOD, load
from processes import write_plugin

from mklkit.registry.registry import Registry

ERRORS = "import warnings; warnings.simplefilter('error')\n"
CHANGES: dict[str, tuple[str, str, Callable[[], Any]]] = {
    "errors": (ERRORS, "the filters of warnings", bool),  # looked at by itself
    "silence": ("import warnings; warnings.resetwarnings()", "the filters of warnings", bool),
    "folder": ("import os; os.chdir(os.sep)", "the working folder", os.getcwd),
    "modules": ("import sys; sys.path.clear()", "sys.path", lambda: list(sys.path)),
    "interrupts": (
        # In the background it is ignored already: no change would be seen.
        "import signal; signal.signal(signal.SIGINT, lambda *given: None)",
        "the handling of signals",
        lambda: signal.getsignal(signal.SIGINT),
    ),
    "language": (
        "import locale; locale.setlocale(locale.LC_ALL, 'C.UTF-8')",
        "the locale",
        lambda: locale.setlocale(locale.LC_ALL),
    ),
    "recursion": (
        "import sys; sys.setrecursionlimit(54321)",
        "the limit of recursion",
        sys.getrecursionlimit,
    ),
    "seed": ("import random; random.seed(1)", "", random.getstate),
    "numpy_seed": (
        "import numpy; numpy.random.seed(1)",
        "",
        lambda: repr(np.random.get_bit_generator().state),
    ),
    "floats": (
        "import numpy; numpy.seterr(all='raise')",
        "NumPy's handling of errors",
        np.geterr,
    ),
    "printing": (
        "import numpy; numpy.set_printoptions(precision=1)",
        "NumPy's print options",
        np.get_printoptions,
    ),
}


def test_what_a_plugin_changes_is_undone_and_named(site: Path) -> None:
    for name, (source, _, _) in CHANGES.items():
        # In the function that gives the components, the change is as far as at the import.
        write_plugin(site, name, f"{source}\n{GOOD.format(name=name)}")
    Registry(third_party=False)  # What it imports may draw random numbers.
    before = {name: read() for name, (_, _, read) in CHANGES.items()}
    registry, warned = load()
    after = {name: read() for name, (_, _, read) in CHANGES.items()}
    for name, (_, change, _) in CHANGES.items():
        assert after[name] == before[name]
        told = [text for text in warned if f"'{name}' of mklkit-{name} changes {change}" in text]
        assert len(told) == bool(change)
        assert registry.create("combiner", name).name == name
    assert len(warned) == sum(bool(change) for _, change, _ in CHANGES.values())


def test_a_plugin_may_add_a_folder_of_modules(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", list(sys.path))
    write_plugin(
        site, "vendor", "import sys; sys.path.append('more')\n" + GOOD.format(name="vendor")
    )
    _, warned = load()
    assert not warned
    assert sys.path[-1] == "more"


def test_what_a_plugin_left_out_has_changed_needs_no_further_warning(site: Path) -> None:
    write_plugin(site, "hasty", "import os; os.chdir(os.sep); 1 / 0")
    before = Path.cwd()
    _, [warned] = load()
    assert "ZeroDivisionError" in warned
    assert Path.cwd() == before


def test_a_library_may_filter_its_own_warnings(site: Path) -> None:
    source = (
        "import warnings\nclass OwnWarning(UserWarning): ...\n"
        "warnings.simplefilter('always', OwnWarning)\n"
        "warnings.filterwarnings('ignore', module='mklkit_filter')\n"
    )
    write_plugin(site, "filter", source + GOOD.format(name="filter"))
    write_plugin(site, "errors", ERRORS + GOOD.format(name="errors"))
    with warnings.catch_warnings(record=True):
        before = list(warnings.filters)
        registry = Registry()
        added = warnings.filters[: len(warnings.filters) - len(before)]
    assert [record[0] for record in added] == ["ignore", "always"]
    assert not registry.failures


def test_streams_outlive_a_plugin(site: Path, capfd: pytest.CaptureFixture[str]) -> None:
    closing = (
        "import os, sys\nfor one in (sys.stdout, sys.stderr, sys.__stdout__, sys.__stderr__):\n"
        "    one.close()\n"
    )
    write_plugin(site, "closing", closing + GOOD.format(name="closing"))
    replacing = "import io, sys\nsys.stdout = sys.stderr = sys.__stdout__ = io.StringIO()\n"
    write_plugin(site, "replacing", replacing + GOOD.format(name="replacing"))
    write_plugin(
        site, "descriptors", "import os\nos.close(1)\nos.close(2)" + GOOD.format(name="low")
    )
    before = sys.stdout, sys.stderr, sys.__stdout__, sys.__stderr__
    registry, warned = load()
    assert (sys.stdout, sys.stderr, sys.__stdout__, sys.__stderr__) == before
    print("the answer")
    os.write(1, b"by descriptor\n")
    print("the talk", file=sys.stderr)
    captured = capfd.readouterr()
    assert captured.out == "the answer\nby descriptor\n"
    assert captured.err == "the talk\n"
    assert warned == []
    assert registry.create("combiner", "closing").name == "closing"
