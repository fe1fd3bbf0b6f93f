"""Docstrings of public names: numpydoc's validation, and what CONTRIBUTING promises besides."""

from __future__ import annotations

import ast
import builtins
import inspect
import textwrap
from collections.abc import Iterator
from importlib import import_module
from types import FunctionType
from typing import Any

import attrs
import pytest

import mklkit
import mklkit.errors
import mklkit.plugin

COMPONENTS = [
    "mklkit.kernels",
    "mklkit.feature_maps",
    "mklkit.combiners",
    "mklkit.learners",
    "mklkit.missing",
]
docscrape = pytest.importorskip("numpydoc.docscrape", reason="numpydoc is in the extra 'test'")
validation = pytest.importorskip("numpydoc.validate")

MODULES = [
    mklkit,
    mklkit.plugin,
    *map(
        import_module,
        [
            "mklkit.datasets",
            "mklkit.evaluation",
            "mklkit.plotting",
            "mklkit_authors.testing",
            *COMPONENTS,
        ],
    ),
]

# Checks of numpydoc that do not apply, each with the reason.
SWITCHED_OFF = {
    "ES01": "one sentence is enough for many names",
    "SA01": "functions need no relatives; classes have theirs, tested below",
}
FOR_METHODS = SWITCHED_OFF | {"EX01": "the example of a class shows its methods"}
FOR_OVERRIDES = FOR_METHODS | dict.fromkeys(
    ["PR01", "RT01", "YD01"], "the base class or protocol documents arguments and result"
)
FOR_PROTOCOLS = SWITCHED_OFF | {"PR01": "nobody constructs a protocol"}

WITHOUT_DOCSTRING = {"Array": "a type", "hookimpl": "a marker of pluggy", "__version__": "a text"}


@attrs.frozen
class Name:
    """A class or function, or a method or property of a class, and the path to import it."""

    path: str
    target: Any

    @property
    def is_class(self) -> bool:
        return isinstance(self.target, type)

    @property
    def is_protocol(self) -> bool:
        return self.is_class and getattr(self.target, "_is_protocol", False)

    @property
    def function(self) -> FunctionType | None:
        """The Python function that runs when it is called or read; None if there is none."""
        target = self.target.fget if isinstance(self.target, property) else self.target
        target = inspect.unwrap(getattr(target, "__func__", target))
        return target if isinstance(target, FunctionType) else None

    @property
    def sections(self) -> Any:
        return docscrape.NumpyDocString(inspect.getdoc(self.target) or "")

    def methods(self) -> Iterator[Name]:
        """Yield the public methods and properties of a class, other than those of libraries.

        Methods of components are those of their bases, which are among the names.
        """
        is_component = self.path.startswith(tuple(COMPONENTS))
        for key in dir(self.target) if self.is_class and not is_component else ():
            method = Name(f"{self.path}.{key}", inspect.getattr_static(self.target, key))
            function = method.function
            if not key.startswith("_") and function and function.__module__.startswith("mklkit."):
                yield method


def exported() -> Iterator[Name]:
    """Yield what users and authors of components import."""
    for module in MODULES:
        for name in getattr(module, "__all__", dir(module)):
            if not (name in WITHOUT_DOCSTRING or name.startswith("_")):
                target = getattr(module, name)
                if isinstance(target, type | FunctionType):
                    yield Name(f"{module.__name__}.{name}", target)


EXPORTED = {name.path: name for name in exported()}
CLASSES = {path: name for path, name in EXPORTED.items() if name.is_class}
FUNCTIONS = {path: name for path, name in EXPORTED.items() if not name.is_class}
# Errors and warnings have the parameters of Python's.
ERRORS = [path for path, name in CLASSES.items() if issubclass(name.target, Exception)]


def overrides(cls: type, method: str) -> bool:
    """Return whether a public base class has the method, or a protocol that the class follows."""
    for name in CLASSES.values():
        base = name.target
        if base is cls or method not in vars(base):
            continue
        if name.is_protocol:
            if all(hasattr(cls, key) for key in vars(base) if not key.startswith("_")):
                return True
        elif issubclass(cls, base):
            return True
    return False


def faults(name: Name, switched_off: dict[str, str]) -> list[str]:
    """Return numpydoc's findings on a name."""
    errors = validation.validate(name.path)["errors"]
    return [f"{name.path}: {code} {text}" for code, text in errors if code not in switched_off]


@pytest.mark.parametrize("path", EXPORTED)
def test_numpydoc_finds_no_fault(path: str) -> None:
    name = EXPORTED[path]
    found = faults(name, FOR_PROTOCOLS if name.is_protocol else SWITCHED_OFF)
    for method in name.methods():
        key = method.path.rpartition(".")[2]
        found += faults(method, FOR_OVERRIDES if overrides(name.target, key) else FOR_METHODS)
    assert found == []


@pytest.mark.parametrize("path", sorted(CLASSES.keys() - ERRORS))
def test_a_class_documents_its_parameters_or_attributes(path: str) -> None:
    sections = CLASSES[path].sections
    without_parameters = path.startswith(tuple(COMPONENTS)) and not fields(CLASSES[path].target)
    assert sections["Parameters"] or sections["Attributes"] or without_parameters


@pytest.mark.parametrize("path", sorted(CLASSES.keys() - ERRORS))
def test_a_class_has_an_example_and_relatives(path: str) -> None:
    name = CLASSES[path]
    needed = ["See Also"] if name.is_protocol else ["See Also", "Examples"]
    assert [section for section in needed if not name.sections[section]] == []


def fields(component: type) -> list[str]:
    """Return the parameters of a component."""
    return [field.name for field in attrs.fields(component)] if attrs.has(component) else []


@pytest.mark.parametrize("path", FUNCTIONS)
def test_a_function_documents_arguments_result_and_use(path: str) -> None:
    signature, sections = inspect.signature(FUNCTIONS[path].target), FUNCTIONS[path].sections
    assert bool(sections["Parameters"]) == bool(signature.parameters)
    assert bool(sections["Returns"]) == (signature.return_annotation not in (None, "None"))
    assert any(line.startswith(">>> ") for line in sections["Examples"])


def errors_raised(function: FunctionType) -> set[type]:
    """Return the public exceptions that the statements of a function raise."""
    known = vars(builtins) | function.__globals__
    classes = set()
    for node in ast.walk(ast.parse(textwrap.dedent(inspect.getsource(function)))):
        if isinstance(node, ast.Raise) and node.exc is not None:
            named = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
            error = known.get(named.id) if isinstance(named, ast.Name) else None
            if isinstance(error, type) and not error.__name__.startswith("_"):
                classes.add(error)
    return classes


@pytest.mark.parametrize("path", EXPORTED)
def test_the_errors_that_are_raised_are_documented(path: str) -> None:
    name = EXPORTED[path]
    names = [name, *name.methods()]
    for callable_name in names:
        function = callable_name.function
        # The attributes of a class have no sections of their own.
        if function is None or isinstance(callable_name.target, property):
            continue
        told = [entry.type for entry in callable_name.sections["Raises"]]
        known = vars(builtins) | vars(mklkit.errors) | function.__globals__
        documented = tuple(known[error] for error in told if error in known)
        for error in errors_raised(function):
            # A base class, such as ValueError, stands for its subclasses.
            assert issubclass(error, documented), f"{callable_name.path} raises {error.__name__}"


def exists(reference: str) -> bool:
    """Return whether a reference names something exported, or part of it."""
    parent, _, rest = reference.rpartition(".")
    if parent in COMPONENTS:
        return hasattr(import_module(parent), rest)
    for module in MODULES:
        target: Any = module
        for key in reference.removeprefix("mklkit.").removeprefix("plugin.").split("."):
            target = getattr(target, key, None)
        if target is not None:
            return True
    return False


@pytest.mark.parametrize("path", EXPORTED)
def test_related_names_exist(path: str) -> None:
    for name in [EXPORTED[path], *EXPORTED[path].methods()]:
        for references, _ in name.sections["See Also"]:
            assert [reference for reference, _ in references if not exists(reference)] == []
