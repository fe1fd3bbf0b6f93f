"""Whole systems by one name; each module registers its own through the plugin hooks."""
