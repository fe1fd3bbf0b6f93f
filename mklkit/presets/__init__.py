"""Complete systems under one name; each module registers its own through the plugin hooks."""
