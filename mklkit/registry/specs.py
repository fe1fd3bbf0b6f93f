"""Spec strings: ``"rbf(sigma='mean')"`` to a name and parameters and back.

Only literals are read (through :mod:`ast`); nothing is evaluated. Bare words are strings,
so that ``rbf(sigma=mean/4)`` can be typed in a shell without a second pair of quotes.
"""

from __future__ import annotations

import ast
import inspect
import re
from functools import lru_cache
from typing import Any

import attrs
import numpy as np

from mklkit.errors import MKLKitError, SpecError, plain_message, quoted, suggest
from mklkit.protocols import Component

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*")
MOST_NESTED = 8
"""The most components in one spec string."""
BARE = (ast.Name, ast.Load, ast.Constant, ast.BinOp, ast.Sub, ast.Mult, ast.Div)
"""The syntax nodes of unquoted text, such as mean, fixed-mean or mean/4."""
# Quoted text, whose parentheses do not count, and parentheses.
_PARENTHESES = re.compile(r"""'[^']*'?|"[^"]*"?|[()]""")
_TAIL = re.compile(
    r"\s*(?:\[\s*(?P<scale>[\w-]+)\s*\])?\s*(?:@\s*(?P<columns>.*\S))?\s*", re.DOTALL
)
_LABEL = re.compile(r"(?P<label>[A-Za-z_][\w. -]*):(?=\s*[A-Za-z_])")


@attrs.frozen
class Spec:
    """A name with positional and named parameters, read from a spec string."""

    name: str
    args: tuple[Any, ...] = ()
    kwargs: dict[str, Any] = attrs.field(factory=dict)


@attrs.frozen
class KernelSpec:
    """A kernel's spec string, with the label before it, and scaling and columns after it."""

    spec: str
    label: str | None = None
    columns: str | None = None
    scale: str | None = None


def parse_spec(text: str) -> Spec:
    """Read a spec string, ``name`` or ``name(parameter=literal, ...)``; else raise a SpecError.

    Examples
    --------
    >>> parse_spec("rbf(sigma='mean')")
    Spec(name='rbf', args=(), kwargs={'sigma': 'mean'})
    >>> parse_spec("best-single")
    Spec(name='best-single', args=(), kwargs={})
    """
    stripped, shown = text.strip(), quoted(text)
    match = _NAME.match(stripped)
    if match is None:
        raise SpecError(f"Expected name or name(parameter=value, ...), got {shown}.")
    rest = stripped[match.end() :].strip()
    if not rest:
        return Spec(match.group())
    if not (rest.startswith("(") and rest.endswith(")")):
        raise SpecError(
            f"Expected name or name(parameter=value, ...), got {shown}:"
            f" {quoted(rest)} after the name {quoted(match.group())} can't be read."
        )
    try:
        call = ast.parse(f"spec{rest}", mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError) as error:
        raise SpecError(f"The parameters in {shown} can't be read as name=value pairs.") from error
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
        raise SpecError(f"Expected name or name(parameter=value, ...), got {shown}.")
    if sum(isinstance(node, ast.Call) for node in ast.walk(call)) > MOST_NESTED:
        raise SpecError(f"A spec string has at most {MOST_NESTED} components; {shown} has more.")
    kwargs: dict[str, Any] = {}
    for keyword in call.keywords:
        if keyword.arg is None:
            raise SpecError(f"'**' can't be used in a spec string, as in {shown}.")
        if keyword.arg in kwargs:
            raise SpecError(f"The parameter {quoted(keyword.arg)} is given twice in {shown}.")
        kwargs[keyword.arg] = _literal(keyword.value, text)
    return Spec(match.group(), tuple(_literal(arg, text) for arg in call.args), kwargs)


def build(cls: Any, args: tuple[Any, ...], kwargs: dict[str, Any], text: str) -> Any:
    """Return a component of a class, or an error that names the parameter of its spec string."""
    shown = quoted(text)
    parameters = _signature(cls)
    try:
        parameters.bind(*args, **kwargs)
    except TypeError as error:
        known = list(parameters.parameters)
        unknown = next((key for key in kwargs if key not in known), "")
        fault = (
            f"{cls.name} has no parameter {quoted(unknown)}" if unknown else plain_message(error)
        )
        raise SpecError(
            f"{shown}: {fault}; it takes {', '.join(known) or 'none'}.{suggest(unknown, known)}"
        ) from error
    try:
        return cls(*args, **kwargs)
    except MKLKitError:
        raise
    except (TypeError, ValueError, OverflowError) as error:
        raise SpecError(f"{shown} can't be built: {plain_message(error)}") from error


@lru_cache(maxsize=1024)
def _signature(cls: Any) -> inspect.Signature:
    """Return the parameters of a class, which take longer to find than a component to make."""
    return inspect.signature(cls)


def _literal(node: ast.expr, text: str) -> Any:
    nodes = list(ast.walk(node))
    bare = all(isinstance(part, BARE) for part in nodes)
    if bare and any(isinstance(part, ast.Name) for part in nodes):
        return _text_of(node, text).replace(" ", "")
    # The hyphen of trace-normalized(rbf) is a minus to Python.
    first = None
    call = node
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub):
        first, call = node.left, node.right
    if isinstance(call, ast.Call) and isinstance(call.func, ast.Name):
        # A component inside a component, as in cosine(polynomial(degree=3)): its own spec string.
        return ("" if first is None else f"{_literal(first, text)}-") + _text_of(call, text)
    if isinstance(node, ast.List):
        return [_literal(part, text) for part in node.elts]
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError) as error:
        raise SpecError(
            f"Parameters in a spec string are literals (numbers, strings, True, lists);"
            f" {quoted(_text_of(node, text))} in {quoted(text)} is not."
        ) from error


def _text_of(node: ast.expr, text: str) -> str:
    try:
        return ast.unparse(node)
    except RecursionError as error:
        raise SpecError(f"A parameter in {quoted(text)} has too many parts.") from error


def parse_kernel_spec(text: str) -> KernelSpec:
    """Split ``label:kernel[scale]@columns`` into its parts; only the kernel is required.

    Examples
    --------
    >>> spec = parse_kernel_spec("fou:rbf(sigma='mean')[standard]@fou_*")
    >>> spec.label, spec.spec, spec.scale, spec.columns
    ('fou', "rbf(sigma='mean')", 'standard', 'fou_*')
    >>> parse_kernel_spec("linear")
    KernelSpec(spec='linear', label=None, columns=None, scale=None)
    """
    rest = text.strip()
    label = None
    match = _LABEL.match(rest)
    if match is not None:
        label = match.group("label").strip()
        rest = rest[match.end() :].strip()
    end = _end_of_call(rest)
    spec = rest[:end].strip()
    tail = _TAIL.fullmatch(rest[end:])
    if tail is None:
        raise SpecError(
            f"Expected label:kernel[scale]@columns, of which only the kernel is required, got"
            f" {quoted(text)}: {quoted(rest[end:].strip())} can't be read. A scale is a name in"
            " brackets ([standard]); columns are a glob (@fou_*), names (@a,b) or a slice (@0:10)."
        )
    return KernelSpec(spec, label, tail["columns"], tail["scale"])


def _end_of_call(text: str) -> int:
    """Return the end of ``name(...)``, ignoring quoted text and inner parentheses."""
    match = _NAME.match(text)
    if match is None:
        raise SpecError(
            f"Expected label:kernel[scale]@columns, of which only the kernel is required, got"
            f" {quoted(text)}."
        )
    if not text[match.end() :].startswith("("):
        return match.end()
    depth = 0
    for token in _PARENTHESES.finditer(text, match.end()):
        depth += {"(": 1, ")": -1}.get(token.group(), 0)
        if depth == 0:
            return token.end()
    raise SpecError(f"The parenthesis opened in {quoted(text)} is not closed.")


def to_spec(component: Any, *, full: bool = False) -> str:
    """Return the spec string of a component, with parameters at their defaults if it is ``full``.

    Examples
    --------
    >>> from mklkit.kernels.distances import RBF
    >>> to_spec(RBF(sigma="0.1*mean"))
    "rbf(sigma='0.1*mean')"
    >>> from mklkit.kernels import Polynomial
    >>> to_spec(Polynomial(degree=3)), to_spec(Polynomial(degree=3), full=True)
    ('polynomial(degree=3)', 'polynomial(degree=3, coef0=1.0, gamma=1.0)')
    """
    cls: Any = type(component)
    name: str = cls.name
    if not attrs.has(cls):
        return name
    values, fields = attrs.asdict(component, recurse=False), attrs.fields(cls)
    parts = []
    for field in fields:
        value = values[field.name]
        shown = value is not None if full else not _is_default(field.default, value)
        if field.init and shown:
            parts.append(f"{field.name}={_render(value, full)}")
    return f"{name}({', '.join(parts)})" if parts else name


def kernel_spec(bound: Any, *, full: bool = False) -> str:
    """Return the spec string of a bound kernel, with its scaling: ``"rbf[standard]"``.

    With parameters at their defaults if it is ``full``.

    Examples
    --------
    >>> from mklkit.registry.columns import bind_kernels
    >>> kernel_spec(*bind_kernels("text:cosine(linear)[roots]@text_*"))
    'cosine[roots]'
    """
    scale = bound.scale if bound.scaling is None else bound.scaling.name
    return to_spec(bound.kernel, full=full) + ("" if scale is None else f"[{scale}]")


def _is_default(default: Any, value: Any) -> bool:
    if isinstance(default, attrs.Factory):  # type: ignore[arg-type]
        default = default.factory()
    if default is None:  # avoids a comparison with each number of a matrix
        return value is None
    try:
        return bool(default == value)
    except ValueError:  # arrays compare element by element
        return False


def _render(value: Any, full: bool) -> str:
    if isinstance(value, Component):
        return repr(to_spec(value, full=full))
    if isinstance(value, tuple) and any(isinstance(part, Component) for part in value):
        return f"[{', '.join(_render(part, full) for part in value)}]"
    if isinstance(value, np.ndarray):
        return f"<array {'x'.join(str(n) for n in value.shape)}>"
    return repr(value)
