"""What the TAB key offers; Typer brings the scripts of the shells, and asks these modules."""
