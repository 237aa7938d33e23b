"""What is searched, and on which rows.

``composite`` takes the estimator apart, ``fit_arguments`` sorts the arguments of ``fit``,
``building`` makes the estimators of candidates, ``grid`` orders them and selects among them,
``label_steps`` finds transformers that look at labels, ``leaving`` decides what is left out,
``training_sets`` holds rows and Gram matrices, ``shared_data`` shares them, ``subsets`` draws some
of the rows.
"""
