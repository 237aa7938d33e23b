"""A distribution of its own; a package only so that tests find each other by name."""
