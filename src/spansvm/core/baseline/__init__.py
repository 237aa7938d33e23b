"""The loops over rows, built for every processor of the architecture."""
