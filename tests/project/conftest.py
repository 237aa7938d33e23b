"""Pages and programs of the project use the library and the application."""

from app.tests.conftest import command_line, no_trees, succeeding, trees

__all__ = ["command_line", "no_trees", "succeeding", "trees"]
