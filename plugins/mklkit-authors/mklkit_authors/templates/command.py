"""A command of ``mklkit``: how many rows of a table each class has."""

from __future__ import annotations

from typing import Annotated

import typer
from mklkit.cli.console import show, show_json
from mklkit.cli.examples import epilog

app = typer.Typer()


@app.command(epilog=epilog(("The classes of data that are built in:", "mklkit sketch wine")))
def sketch(
    data: Annotated[
        str, typer.Argument(metavar="DATA", help="A built-in data set or a file.")
    ] = "iris",
    as_json: Annotated[bool, typer.Option("--json", help="Print the results as JSON.")] = False,
) -> None:
    """Count the rows of each class of a table."""
    # Imported late, so that the help takes no time.
    from mklkit.datasets import load_table

    counts = load_table(data).target.value_counts(sort=False)
    if as_json:
        show_json({str(label): int(count) for label, count in counts.items()})
        return
    for label, count in counts.items():
        show(f"{label}: {count}")
