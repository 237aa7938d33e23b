"""The machines of all pairs of classes; their predictions for rows that they have not seen."""
