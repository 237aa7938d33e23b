"""Users' data files: reads them, with the types and roles of columns, and prepares training."""

from .corrections import correct_labels
from .pipeline import IMPUTATIONS, SCALINGS, build_pipeline, check_predictable
from .reading import FileOptions, read_for_prediction, read_table
from .roles import Roles
from .table import Schema, Table

__all__ = [
    "IMPUTATIONS",
    "SCALINGS",
    "FileOptions",
    "Roles",
    "Schema",
    "Table",
    "build_pipeline",
    "check_predictable",
    "correct_labels",
    "read_for_prediction",
    "read_table",
]
