"""Linear systems, affine hulls and quadratic programs: numbers, no SVM."""
