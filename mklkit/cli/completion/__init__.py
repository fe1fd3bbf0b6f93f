"""Tab completion: Typer provides the shells' scripts, which call these modules."""
