"""The pictures of the documentation, and the measured figures in its pages: ``make figures``."""
