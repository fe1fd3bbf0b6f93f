"""Save each figure of the gallery twice: as drawn, and for pages with a dark background.

A figure is drawn once. For the second picture its greys change places, black with white, while all
other colours, which carry the meaning, stay.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib import colors
from matplotlib.artist import Artist, getp, setp
from matplotlib.collections import Collection
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.text import Text

if TYPE_CHECKING:
    from sphinx.application import Sphinx

Scraper = Callable[[tuple[str, str, int], dict[str, Any], dict[str, Any]], str]

DPI = 110
# What has colours of its own; figures and axes have those of their patches.
COLOURS: dict[type[Artist], tuple[str, ...]] = {
    Collection: ("facecolor", "edgecolor"),
    Line2D: ("color", "markerfacecolor", "markeredgecolor"),
    Patch: ("facecolor", "edgecolor"),
    Text: ("color",),
}
# The background of the theme's dark pages, and the grey of their text.
DARKEST, LIGHTEST = np.array(colors.to_rgb("#14181e")), 0.88
# The difference of channels below which a colour is a grey.
GREY = 0.06

THUMBNAIL = re.compile(
    r"^  \.\. image:: /gallery/images/thumb/(?P<name>sphx_glr_plot_\w+)_thumb\.png\n    :alt:",
    re.MULTILINE,
)
# The theme shows the picture of its scheme. A thumbnail of 400 pixels would be too small to read.
BOTH = r"""  .. image:: /gallery/images/\g<name>_001.png
    :alt:
    :class: only-light

  .. image:: /gallery/images/\g<name>_001_dark.png
    :alt:
    :class: only-dark"""
PICTURES = """
.. image:: {light}
   :alt: {alt}
   :class: sphx-glr-single-img only-light

.. image:: {dark}
   :alt: {alt}
   :class: sphx-glr-single-img only-dark
"""


def light_and_dark(
    block: tuple[str, str, int], block_vars: dict[str, Any], gallery_conf: dict[str, Any]
) -> str:
    """Save the open figures, light and dark, and return the reST that shows one of the two."""
    from matplotlib import pyplot

    shown = []
    for number in pyplot.get_fignums():
        figure = pyplot.figure(number)
        alt = _described(figure, block_vars)
        light = Path(next(block_vars["image_path_iterator"]))
        figure.savefig(light, dpi=DPI, bbox_inches="tight")
        mirror_greys(figure)
        dark = light.with_name(f"{light.stem}_dark{light.suffix}")
        figure.savefig(dark, dpi=DPI, bbox_inches="tight")
        source = Path(gallery_conf["src_dir"])
        places = [f"/{path.relative_to(source).as_posix()}" for path in (light, dark)]
        shown.append(PICTURES.format(light=places[0], dark=places[1], alt=alt))
    pyplot.close("all")
    return "".join(shown)


def _get_sg_image_scraper() -> Scraper:
    """Return what sphinx-gallery calls after each block: it looks this function up by its name."""
    return light_and_dark


def replace_thumbnails(app: Sphinx, page: str, text: list[str]) -> None:
    """Show on each card of the gallery the first picture of its program, light and dark."""
    if page == "gallery/index":
        text[0] = THUMBNAIL.sub(BOTH, text[0])


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect what changes the page of thumbnails; sphinx-gallery finds the scraper itself."""
    app.connect("source-read", replace_thumbnails)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _described(figure: Figure, block_vars: dict[str, Any]) -> str:
    """Return what a reader who does not see the picture is told: its name, titles and axes."""
    said = [figure.get_suptitle()]
    for axes in figure.axes:
        said += [axes.get_title(), axes.get_xlabel(), axes.get_ylabel()]
    words = ", ".join(dict.fromkeys(" ".join(text.split()) for text in said if text))
    name = Path(block_vars["src_file"]).stem.removeprefix("plot_").replace("_", " ")
    return f"{name}: {words}" if words else name


def mirror_greys(figure: Figure) -> None:
    """Change black with white, and greys accordingly, in everything that a figure draws."""
    for kind, names in COLOURS.items():
        for artist in figure.findobj(kind):
            if not _is_on_a_map(artist):
                # All are read before one is set: some follow others.
                before = {name: getp(artist, name) for name in names}
                for name, value in before.items():
                    _mirror(artist, name, value)


def _is_on_a_map(artist: Artist) -> bool:
    """Say whether colours stand for numbers here, or are those of a label on such colours."""
    if isinstance(artist, Collection):
        return artist.get_array() is not None
    axes = artist.axes
    if not isinstance(artist, Text) or axes is None or artist not in axes.texts:
        return False
    return bool(axes.images) or any(dots.get_array() is not None for dots in axes.collections)


def _mirror(artist: Artist, name: str, value: Any) -> None:
    if isinstance(value, str) and value in ("none", "auto", "face"):
        return
    rgba = colors.to_rgba_array(value)
    grey = np.ptp(rgba[:, :3], axis=1) < GREY if len(rgba) else np.array([False])
    if not grey.any():
        return
    level = rgba[grey, :3].mean(axis=1, keepdims=True)
    rgba[grey, :3] = LIGHTEST - (LIGHTEST - DARKEST) * level
    setp(artist, **{name: rgba if isinstance(artist, Collection) else rgba[0]})
