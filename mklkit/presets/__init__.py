"""Complete systems under one name."""
