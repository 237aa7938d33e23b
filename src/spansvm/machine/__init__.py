"""One machine of two classes: its dual, its spans, and what happens when rows leave it."""
