"""The loops over rows, built for one level of processor."""
