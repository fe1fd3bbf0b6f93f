"""Pages that README links to can be read on a code forge, and become the site's directives."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest
from helpers.documents import PAGES, ROOT, needs_checkout

pytestmark = needs_checkout

LINK = re.compile(r"\]\((docs/[\w/-]+\.md)")
DRAWN = {"math"}
"""Fences in braces or by name that a code forge draws."""
DIRECTIVE = re.compile(r"^(?:```|:{3,})\{([\w:-]+)\}", re.MULTILINE)
COLONS = re.compile(r"^:{3,}", re.MULTILINE)
ROLE = re.compile(r"(?<!`)\{([\w:-]+)\}`")
FRONT = "docs/index.md"
"""The front page of the site, which is README on a code forge."""


def linked_pages() -> list[str]:
    """Return the pages to which README, CONTRIBUTING and CHANGELOG link, and all guides."""
    pages = {page for page in PAGES if page.startswith("docs/guides/")}
    for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md"):
        pages.update(LINK.findall((ROOT / name).read_text(encoding="utf-8")))
    return sorted(pages)


def test_pages_are_linked() -> None:
    assert {"docs/get-started.md", "docs/architecture.md"} < {*linked_pages()}
    assert FRONT not in linked_pages()


@pytest.mark.parametrize("page", linked_pages())
def test_a_code_forge_draws_the_page(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    assert {*DIRECTIVE.findall(text)} <= DRAWN
    assert not COLONS.findall(text)
    prose = re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
    assert not ROLE.findall(prose)
    assert prose.count("<details") == prose.count("<summary>") == prose.count("</details>")
    assert prose.count("<!-- tabs -->") == prose.count("<!-- end of tabs -->")
    # A forge draws Markdown in HTML only after an empty line.
    assert not re.findall(r"</summary>\n(?!\n)|[^\n]\n</details>", prose)


PAGE = """\
<!-- tabs -->

<details open>
<summary>Shell</summary>

```sh
echo "<details>"
```

</details>

<details>
<summary>Python</summary>

Some text.

</details>
<!-- end of tabs -->

<details>
<summary>All sets</summary>

[The table](tables/sets.md)

</details>

[A page](tables/sets.md) in a paragraph.

<!-- toctree
:hidden:

first
-->
"""
DIRECTIVES = """\
::::::{tab-set}
:sync-group: way

:::::{tab-item} Shell
:sync: shell

```sh
echo "<details>"
```

:::::

:::::{tab-item} Python
:sync: python

Some text.

:::::
::::::

::::{dropdown} All sets

```{include} tables/sets.md
```

::::

[A page](tables/sets.md) in a paragraph.

```{toctree}
:hidden:

first
```
"""


def test_what_a_forge_draws_becomes_directives() -> None:
    pytest.importorskip("sphinx")
    directives = runpy.run_path(str(Path(ROOT, "docs", "_ext", "code_forges.py")))["directives"]
    assert "\n".join(directives(PAGE.split("\n"))) == DIRECTIVES
