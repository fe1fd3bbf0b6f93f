"""Kernel weights that depend on soft clusters of the samples (Mu and Zhou 2011)."""
