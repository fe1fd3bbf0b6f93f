"""How Sphinx builds the site: ``python -m sphinx -W --keep-going docs docs/_build``."""

from __future__ import annotations

import os
import sys
from importlib.metadata import version as version_of
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_ext"))

# Pictures are made in memory, with and without a screen.
os.environ.setdefault("MPLBACKEND", "agg")

project = "mklkit"
author = "The mklkit developers"
project_copyright = author
release = version_of("mklkit")
version = release

extensions = [
    "packages",
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.viewcode",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "code_forges",
    "command_line",
    "components",
    "docstrings",
    "equations",
    "pictures",
    "public_names",
]
exclude_patterns = ["_build", "**/tables", "gallery/**/*.py", "gallery/**/*.ipynb"]
templates_path = ["_templates"]

myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
# Code forges draw equations in such fences, too.
myst_fence_as_directive = ["math"]
html_math_renderer = "mathml"
myst_heading_anchors = 3
suppress_warnings = [
    # Commands and their output are no programs that could be highlighted as such.
    "misc.highlighting_failure",
    # It tells of spaces in the path of a checkout, too, where they do no harm.
    "sphinx_gallery.space_in_filename",
]

autosummary_generate = True
autodoc_typehints = "none"
# The table of contents of a class would not fit beside it with the name of the class in each line.
toc_object_entries_show_parents = "hide"
autodoc_member_order = "bysource"
# The tables of methods would repeat what stands below them.
numpydoc_show_class_members = False
numpydoc_xref_param_type = False

copybutton_exclude = ".linenos, .gp, .go"

sphinx_gallery_conf = {
    "examples_dirs": ["../examples"],
    "gallery_dirs": ["gallery"],
    "filename_pattern": r"plot_",
    "ignore_pattern": r"^(?!.*plot_)",
    "image_scrapers": ("pictures",),
    "abort_on_example_error": True,
    "only_warn_on_example_error": False,
    "download_all_examples": False,
    "remove_config_comments": True,
    "show_memory": False,
    # What a call that draws returns.
    "ignore_repr_types": r"mklkit\.plotting|mklkit_optimize|matplotlib|sklearn.*Display|list",
    "plot_gallery": "True",
    "write_computation_times": False,
    "within_subsection_order": "FileNameSortKey",
}

html_theme = "pydata_sphinx_theme"
html_title = "mklkit"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_theme_options = {
    "logo": {"text": "mklkit"},
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "navbar_align": "left",
    "header_links_before_dropdown": 6,
    "show_prev_next": True,
    "footer_start": ["copyright"],
    "footer_end": ["theme-version"],
    # Programs of the gallery have lines of 100 letters.
    "secondary_sidebar_items": {
        page: ["page-toc"] for page in ("[!g]**", "get-started", "guides/**", "faq", "model-files")
    },
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
html_sidebars = {
    "index": [],
    "get-started": [],
    "faq": [],
    "which-combiner": [],
    "changelog": [],
}
