"""Paper 001: kernel weights that depend on soft clusters of the rows."""
