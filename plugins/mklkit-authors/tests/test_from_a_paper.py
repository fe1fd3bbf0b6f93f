"""The page from a paper to a package, followed to the letter in an environment of its own."""

from __future__ import annotations

from pathlib import Path

import pytest
from helpers.documents import commands, listings
from helpers.environments import Environment
from helpers.processes import run_in_process

PAGE = "docs/guides/plugins/from-a-paper.md"


@pytest.mark.packages
def test_a_paper_becomes_a_package(tmp_path: Path) -> None:
    new, enter, install, test, check, *use = commands(PAGE)
    assert run_in_process(*new.split()[1:], cwd=tmp_path).code == 0
    folder = tmp_path / enter.removeprefix("cd ")
    source, test_of_formula = listings(PAGE, "python")
    module = folder / "mklkit_separability"
    (module / "__init__.py").write_text(source, encoding="utf-8")
    (module / "sources.bib").write_text(listings(PAGE, "bibtex")[0], encoding="utf-8")
    (folder / "tests" / "test_formula.py").write_text(test_of_formula, encoding="utf-8")
    environment = Environment(tmp_path, folder)
    environment.run(install.replace('".[test]"', "."))
    tested = environment.run(f"{test} -v -p no:cacheprovider").stdout
    assert "test_weights_are_ratios_of_scatter PASSED" in tested
    [counted] = [line for line in tested.splitlines() if "weights_of_rows_count" in line]
    assert "PASSED" in counted
    checked, compared, fitted, inspected = environment.run_commands(check, *use)
    for outcome in (checked, compared, fitted, inspected):
        assert outcome.code == 0, outcome
    assert "separability" in compared.out
    assert "Optimizing the kernel in the empirical feature space" in inspected.out
