"""What the TAB key offers: Typer installs the shells' scripts, and these modules answer them."""
