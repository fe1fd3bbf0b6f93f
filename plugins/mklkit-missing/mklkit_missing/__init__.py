"""Strategies for mklkit for samples with a missing source; each registers itself."""

from __future__ import annotations

from mklkit_missing.complete import Complete, CompletedKernel, Completion
from mklkit_missing.per_pattern import PatternDecision, PerPattern

__all__ = ["Complete", "CompletedKernel", "Completion", "PatternDecision", "PerPattern"]
