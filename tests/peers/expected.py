"""The tests of scikit-learn that fail with our classes, by the reason why they do.

An entry is ``module::test``, with or without the parameters of the test.  An entry that passes
fails the run: take it out.
"""

#: The scikit-learn whose tests these are.
VERSION = "1.9"

EXPECTED: dict[str, list[str]] = {
    # Machines ---------------------------------------------------------------------------
    "Negative weights are an error, also where LibSVM leaves the rows out.": [
        "test_svm::test_negative_sample_weights_mask_all_samples[weights-are-negative-SVC]",
        "test_svm::test_negative_sample_weights_mask_all_samples[weights-are-negative-SVR]",
        "test_svm::test_negative_weights_svc_leave_just_one_label[mask-label-1-SVC]",
        "test_svm::test_negative_weights_svc_leave_just_one_label[mask-label-2-SVC]",
        "test_svm::test_negative_weights_svc_leave_two_labels[partial-mask-label-1-SVC]",
        "test_svm::test_negative_weight_equal_coeffs[partial-mask-label-1-SVC]",
    ],
    "A sentence of our own says the same, and names what is wrong.": [
        "test_svm::test_negative_sample_weights_mask_all_samples[weights-are-zero-SVC]",
        "test_svm::test_negative_sample_weights_mask_all_samples[weights-are-zero-SVR]",
        "test_svm::test_svc_nonfinite_params[42]",
        "test_svm::test_unfitted",
    ],
    "A model that was fitted on dense rows predicts sparse ones, too.": [
        "test_svm::test_bad_input[42-lil_matrix]",
        "test_svm::test_bad_input[42-lil_array]",
    ],
    "A kernel matrix may be sparse.": [
        "test_svm::test_sparse_precomputed[csr_matrix]",
        "test_svm::test_sparse_precomputed[csr_array]",
    ],
    "Private attributes of LibSVM's wrapper are not ours: predictions come from the machines.": [
        "test_svm::test_tweak_params",
        "test_svm::test_svc_raises_error_internal_representation",
    ],
    "One iteration of our solver is enough for six rows: there is nothing to warn of.": [
        "test_svm::test_libsvm_convergence_warnings[42]",
    ],
    "Probabilities are always there, calibrated on leave-one-out values: `probability` is accepted "
    "and not deprecated, and LibSVM's coefficients do not exist.": [
        "test_svm::test_probability_raises_futurewarning[True-Machine-SVC]",
        "test_svm::test_probability_raises_futurewarning[False-Machine-SVC]",
        "test_svm::test_svc_nusvc_probA_probB_deprecated[Machine]",
        "test_svm::test_hasattr_predict_proba[42]",
    ],
    "A kernel function gets rows of numbers, not texts: leave-one-out needs their distances.": [
        "test_svm::test_custom_kernel_not_array_input[Machine]",
        "test_svm::test_custom_kernel_not_array_input[RegressionMachine]",
    ],
    "The weights of a regression are finite: C=inf, with all targets in the tube, is an error.": [
        "test_svm::test_svm_with_infinite_C[42-inf0-RegressionMachine-make_regression]",
        "test_svm::test_svm_with_infinite_C[42-inf1-RegressionMachine-make_regression]",
    ],
    # Searches ---------------------------------------------------------------------------
    "`cv_results_` has columns of our own next to theirs (`loo_error`, `converged`, ...).": [
        "test_search::test_grid_search_cv_results",
        "test_search::test_random_search_cv_results",
    ],
    "If `refit` is a function, `best_score_` is set too: the score of what it selected.": [
        "test_search::test_refit_callable",
    ],
    "A scorer that fails in every fit is an error: there is nothing to select by.": [
        "test_search::test_unsupported_sample_weight_scorer",
    ],
    "A search of another class has none of our own attributes (`corrected_interval_`, ...).": [
        "test_search::test_custom_run_search",
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
}
