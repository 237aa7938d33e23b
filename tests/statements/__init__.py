"""Every statement with a number that ``spansvm tune`` makes, checked against scikit-learn.

``python -m tests.statements`` runs ``tune`` without an option but the target on every file of the
folder that SPANSVM_PUBLIC names, whose README has lines such as ``titanic.csv -> Survived``;
without it, on data sets that come with scikit-learn.  What it prints, and what its report says, is
cut into sentences; each that holds a number must be of a form listed here, with what it must agree
with: models that are trained again by scikit-learn, without each of some rows, or in folds; counts
of the file; formulas of intervals.
"""
