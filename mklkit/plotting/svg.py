"""A display as SVG inside a page, with real text and the colours of the page."""

from __future__ import annotations

import re
import warnings
from io import StringIO
from typing import TYPE_CHECKING
from xml.etree import ElementTree

from mklkit.display.html import printable
from mklkit.plotting.parts import COLOURS

if TYPE_CHECKING:
    from markupsafe import Markup

    from mklkit.plotting.base import Display

PAGE_COLOURS = {
    "#000000": "currentColor",
    "#ffffff": "var(--paper, #ffffff)",
    **{color.lower(): f"var(--colour-{i}, {color})" for i, color in enumerate(COLOURS)},
}
"""The colours of matplotlib's default style that the page replaces."""
FONT = re.compile(r"([\d.]+)px")
PIXELS = 96 / 72
"""The size of a matplotlib point."""


def svg_of(display: Display, label: str) -> Markup | None:
    """Return a display as SVG that a page with any colours and a strict policy may contain.

    Screen readers read the label, which must be unique on a page. None without matplotlib.
    """
    from markupsafe import Markup

    try:
        from matplotlib import style
    except ImportError:
        return None

    label = printable(label)
    options = {"svg.fonttype": "none", "svg.hashsalt": label, "text.parse_math": False}
    with style.context(["default", options]), warnings.catch_warnings():
        # The browser's fonts have letters that matplotlib's font lacks.
        warnings.filterwarnings("ignore", message="Glyph", category=UserWarning)
        drawing = StringIO()
        display.figure().savefig(drawing, format="svg", transparent=True)
    root = ElementTree.fromstring(drawing.getvalue())
    for element in list(root.iter()):
        for child in list(element):
            if _local(child.tag) in ("metadata", "style"):
                element.remove(child)
        element.tag = _local(element.tag)
        element.attrib = _attributes(element)
    width, height = map(float, root.attrib["viewBox"].split()[2:])
    root.attrib |= {
        "width": f"{PIXELS * width:.0f}",
        "height": f"{PIXELS * height:.0f}",
        "role": "img",
        "aria-label": label,
    }
    return Markup(ElementTree.tostring(root, encoding="unicode"))


def _attributes(element: ElementTree.Element) -> dict[str, str]:
    """Return attributes with styles, which a policy may reject, turned into attributes."""
    attributes = {"fill": "currentColor"} if element.tag == "text" else {}
    for name, value in element.attrib.items():
        if name == "style":
            for declaration in value.split(";"):
                key, _, setting = (part.strip() for part in declaration.partition(":"))
                if key == "font" and (size := FONT.search(setting)):
                    attributes["font-size"] = size[1]
                elif key:
                    attributes[key] = PAGE_COLOURS.get(setting.lower(), setting)
        elif not (name == "id" and element.tag == "g"):
            # Names of groups are the same in all figures, and are not referenced.
            attributes[_local(name)] = value
    return attributes


def _local(name: str) -> str:
    return name.rpartition("}")[2]
