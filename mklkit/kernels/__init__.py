"""Kernels, one or a family per file; each module registers its own through the plugin hooks."""
