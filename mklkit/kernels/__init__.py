"""Kernels, one per file; each module registers its own through the plugin hooks."""
