"""Naive transcriptions of the papers' formulas: slow, dense, and independent of mklkit."""
