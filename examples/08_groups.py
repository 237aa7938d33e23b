"""Groups: how good a model is for persons that it has never heard.

Forty persons were recorded eight times each.  A model that has heard seven of a person's recordings
knows the eighth by the voice.  The error to expect for new persons is found by leaving out whole
persons; the true one is measured on 500 others.

    python examples/08_groups.py [PICTURE]
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from spansvm import SpanSearch

GAMMAS = 2.0 ** np.arange(-8, 3)


def record(n_persons, rng):
    """Recordings of persons, what they say of each person, and whose they are."""
    voices = rng.standard_normal((n_persons, 6))
    ill = (voices[:, 0] + voices[:, 1] + rng.standard_normal(n_persons) > 0).astype(int)
    person = np.repeat(np.arange(n_persons), 8)
    return voices[person] + 0.3 * rng.standard_normal((person.size, 6)), ill[person], person


def main(picture: Path) -> None:
    """Leave out recordings, then persons, and compare both with the error for new persons."""
    rng = np.random.default_rng(0)
    X, y, person = record(40, rng)
    X_new, y_new, _ = record(500, rng)
    model = make_pipeline(StandardScaler(), SVC(C=2.0))

    curves = {}
    for name, groups in (("recordings", None), ("persons", person)):
        # Without this, a warning says of recordings that neighbouring rows depend on each other.
        search = SpanSearch(model, {"svc__gamma": GAMMAS}, check_dependence=False)
        search.fit(X, y, groups=groups)
        curves[name] = 1 - search.cv_results_["mean_test_score"]
        print(
            f"leaving out {name:<10}: gamma = {search.best_params_['svc__gamma']:.4g}, "
            f"expected error {1 - search.best_score_:.3f}, "
            f"for new persons {1 - search.score(X_new, y_new):.3f}"
        )
    truth = [
        np.mean(model.set_params(svc__gamma=g).fit(X, y).predict(X_new) != y_new) for g in GAMMAS
    ]

    figure, ax = plt.subplots(figsize=(6, 4), layout="constrained")
    ax.plot(GAMMAS, truth, "--", color="0.55", lw=2.5, label="500 new persons")
    ax.plot(GAMMAS, curves["persons"], "o-", color="black", ms=4, label="persons left out")
    ax.plot(GAMMAS, curves["recordings"], "s:", color="black", ms=4, label="recordings left out")
    ax.set_xscale("log", base=2)
    ax.set(xlabel="gamma", ylabel="error", ylim=(0, None))
    ax.legend(frameon=False)
    figure.savefig(picture, dpi=110)
    print(f"picture: {picture}")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "groups.png"))
