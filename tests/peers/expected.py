"""The tests of scikit-learn that fail with our classes, by the reason why they do."""

EXPECTED: dict[str, list[str]] = {}
