"""The tests of scikit-learn that fail with our classes, by the reason why they do.

An entry is ``module::test``, with or without the parameters of the test.  An entry that passes
fails the run: take it out.
"""

EXPECTED: dict[str, list[str]] = {
    # Searches ---------------------------------------------------------------------------
    "`cv_results_` has columns of our own next to theirs (`loo_error`, `converged`, ...).": [
        "test_search::test_grid_search_cv_results",
        "test_search::test_random_search_cv_results",
    ],
    "If `refit` is a function, `best_score_` is set too: the score of what it selected.": [
        "test_search::test_refit_callable",
    ],
    "A score that is NaN for all candidates is an error: there is nothing to select by.": [
        "test_search::test_unsupported_sample_weight_scorer",
    ],
    "A sentence of our own tells what to do with a class that has no `score`, or another one.": [
        "test_search::test_grid_search_no_score",
    ],
    "`verbose` shows one progress bar, not a line for each fit.": [
        "test_search::test_search_cv_verbose_3",
    ],
    "Only wrappers that the engine knows may be around an SVC; for others the error names "
    "GridSearchCV.": [
        "test_search::test_cv_results_dtype_issue_29074",
    ],
    "A kernel matrix may be a list of lists.": [
        "test_search::test_grid_search_precomputed_kernel",
    ],
    "Probabilities are calibrated on leave-one-out values: leaving out a row of weight 2 is not "
    "leaving out one of two copies. The scores are equal.": [
        "test_search::test_search_cv_sample_weight_equivalence[estimator0]",
    ],
    "An SVC has no callbacks of its own: there are no tasks inside a fit.": [
        "test_search::test_search_callbacks_propagation[search0-True]",
        "test_search::test_search_callbacks_propagation[search0-False]",
        "test_search::test_search_callbacks_propagation[search1-True]",
        "test_search::test_search_callbacks_propagation[search1-False]",
    ],
    "The weights of the test leave a fold with one class, on which no SVC can be trained; the "
    "estimator that it was written for ignores them.": [
        "test_search::test_search_callbacks_receive_sample_weight",
    ],
}
