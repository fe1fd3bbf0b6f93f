"""Tables whose column names tell sources, on the command line."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from helpers.processes import Run

pytestmark = pytest.mark.process
N = 60


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a file with genes_0 to genes_11, text_0 to text_11 and the column kind."""
    rng = np.random.default_rng(0)
    ill = np.arange(N)[:, None] % 2
    frame = pd.concat(
        [
            pd.DataFrame(rng.normal(size=(N, 12)) + 0.8 * ill).add_prefix(f"{source}_")
            for source in ("genes", "text")
        ],
        axis=1,
    ).assign(kind=np.where(ill[:, 0], "ill", "well"))
    path = tmp_path_factory.mktemp("sources") / "table.csv"
    frame.to_csv(path, index=False)
    return path


@pytest.mark.parametrize("command", ["fit", "kernels", "compare"])
@pytest.mark.parametrize("kernel", ["gene:rbf", "gene:auto"])
def test_a_mistyped_label_is_an_error(started: Run, table: Path, command: str, kernel: str) -> None:
    done = started(command, table, "--target", "kind", "-k", kernel, "-k", "text:rbf")
    done.refused("'gene'", "Did you mean 'genes'?")
