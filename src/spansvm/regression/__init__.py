"""Regression: one machine per target, with a tube; its predictions for rows it has not seen."""
