"""A search over ranges: by its own steps, and by an Optuna study that proposes the candidates.

Every candidate that the study proposes is trained once and scored by leave-one-out, and all of them
are candidates of one search: the corrected score knows them.

    pip install optuna
    python examples/optuna_search.py
"""

import optuna
from optuna.distributions import FloatDistribution
from sklearn.datasets import load_breast_cancer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from spansvm import SpanSearch

RANGES = {
    "svc__C": FloatDistribution(0.01, 1000.0, log=True),
    "svc__gamma": FloatDistribution(1e-4, 1.0, log=True),
}


def main() -> None:
    """Run both searches and print what they found."""
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    X, y = load_breast_cancer(return_X_y=True)
    model = make_pipeline(StandardScaler(), SVC())
    study = optuna.create_study(direction="maximize", sampler=optuna.samplers.TPESampler(seed=0))
    searches = {
        "own steps": SpanSearch(model, RANGES, n_trials=60),
        "study": SpanSearch(model, RANGES, n_trials=60, study=study),
    }
    for name, search in searches.items():
        search.fit(X, y)
        print(
            f"{name}: {len(search.cv_results_['params'])} candidates, best {search.best_score_:.4f}"
            f", corrected {search.corrected_score_:.4f}"
        )
    print(f"the study itself: {len(study.trials)} trials, best {study.best_value:.4f}")


if __name__ == "__main__":
    main()
