"""Equations as MathML, which browsers draw themselves: pages load no script from elsewhere."""

from __future__ import annotations

from typing import Any

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.application import Sphinx
from sphinx.util import logging

_LOGGER = logging.getLogger(__name__)


def mathml(node: nodes.Element, display: str) -> str:
    """Return a node's equation as MathML; warn of a command that is not known."""
    text = convert(node.astext(), display=display)
    if "\\" in text:
        _LOGGER.warning("an equation has an unknown command: %s", text, location=node)
    return text


def visit_inline(translator: Any, node: nodes.Element) -> None:
    """Write an equation in a line of text."""
    translator.body.append(mathml(node, "inline"))
    raise nodes.SkipNode


def visit_block(translator: Any, node: nodes.Element) -> None:
    """Write an equation on a line of its own, which scrolls if it is wider than the page."""
    translator.body.append(f'<div class="equation">{mathml(node, "block")}</div>')
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, bool]:
    """Make this the way in which equations are written."""
    app.add_html_math_renderer("mathml", (visit_inline, None), (visit_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
