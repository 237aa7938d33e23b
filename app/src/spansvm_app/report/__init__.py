"""The report of a search: one HTML page with the findings, and the same as JSON."""

from .contents import Report
from .page import render_html, write_json, write_report
from .regression import RegressionReport

__all__ = ["RegressionReport", "Report", "render_html", "write_json", "write_report"]
