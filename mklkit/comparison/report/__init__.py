"""A comparison as one self-contained HTML page."""

from mklkit.comparison.report.page import html_report

__all__ = ["html_report"]
