"""What autodoc needs to know of our docstrings, and of what scikit-learn's bases bring."""

from __future__ import annotations

import re
from typing import Any

from sphinx.application import Sphinx

_LINK_BACK = re.compile(r'<a class="viewcode-back"[^>]*>\[docs\]</a>')
_LITERAL = re.compile(r"(``.*?``)", re.DOTALL)


def escape_bars(
    app: Sphinx, what: str, name: str, obj: object, options: Any, lines: list[str]
) -> None:
    """Keep the bars of |x − z| as they are: reST would look for a substitution of that name."""
    parts = _LITERAL.split("\n".join(lines))
    parts[::2] = [part.replace("|", "\\|") for part in parts[::2]]
    lines[:] = "".join(parts).split("\n")


def skip_inherited(
    app: Sphinx, what: str, name: str, obj: object, skip: bool, options: Any
) -> bool | None:
    """Leave out what scikit-learn documents: get_params, set_fit_request and the like."""
    module = getattr(obj, "__module__", None) or type(obj).__module__
    return True if module.startswith("sklearn.") else None


def drop_links_back(
    app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: object
) -> None:
    """Leave out the links from sources to pages: they take each name to be where it is defined."""
    if page.startswith("_modules/") and "body" in context:
        context["body"] = _LINK_BACK.sub("", context["body"])


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect them, the first after numpydoc has read the sections."""
    app.connect("html-page-context", drop_links_back)
    app.connect("autodoc-process-docstring", escape_bars, priority=900)
    app.connect("autodoc-skip-member", skip_inherited)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
