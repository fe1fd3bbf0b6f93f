"""Feature maps, one a file; each module registers its own through the plugin hooks."""
