"""Texts: messages sorted by their words.

Six hundred short messages about the weather, food, football and travel are drawn by seed from lists
of words, of which a third belongs to no topic.  TF-IDF makes numbers of the words, and a linear SVM
learns from them; C and the length of word sequences are searched by leave-one-out.

    python examples/11_texts.py [PICTURE]
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline

from spansvm import SpanSearch, SpanSVC

TOPICS = {
    "weather": "rain cloud sun storm wind cold warm snow fog sky umbrella degrees forecast wet",
    "food": "soup bread cook dinner salt oven cheese plate hungry warm kitchen sweet lunch cold",
    "football": "goal match team keeper ball win lost referee half fans penalty league wet cup",
    "travel": "train ticket hotel flight late station bag map beach lost platform sun city half",
}
COMMON = [
    "the",
    "a",
    "today",
    "we",
    "you",
    "was",
    "is",
    "very",
    "and",
    "with",
    "not",
    "at",
    "it",
    "then",
    "maybe",
    "please",
    "see",
    "really",
]


def message(topic, rng):
    """Eight words, of which some say what the message is about."""
    own = TOPICS[topic].split()
    words = [rng.choice(own if rng.random() < 0.3 else COMMON) for _ in range(8)]
    return " ".join(words)


def main(picture: Path) -> None:
    """Draw messages, search, print the errors, and draw the words that matter."""
    rng = np.random.default_rng(0)
    topics = rng.choice(list(TOPICS), 2600)
    texts = [message(topic, rng) for topic in topics]
    print(f"{topics[0]}: {texts[0]!r}")
    texts, new, topics, topics_new = train_test_split(texts, topics, train_size=600, random_state=0)

    model = make_pipeline(TfidfVectorizer(), SpanSVC(kernel="linear"))
    grid = {"spansvc__C": 2.0 ** np.arange(-4, 5), "tfidfvectorizer__ngram_range": [(1, 1), (1, 2)]}
    search = SpanSearch(model, grid).fit(texts, topics)
    C, (_, longest) = search.best_params_.values()
    print(
        f"C = {C:g}, sequences of {longest}: error of left-out messages "
        f"{1 - search.best_score_:.3f}, corrected {1 - search.corrected_score_:.3f}, "
        f"of 2000 new ones {1 - search.score(new, topics_new):.3f}"
    )

    # The mean TF-IDF of a word within a topic that is predicted for left-out messages.
    vectors = search.best_estimator_[0].transform(texts)
    words = search.best_estimator_[0].get_feature_names_out()
    predicted = search.best_estimator_[-1].loo_predict_
    figure, axes = plt.subplots(1, 4, figsize=(9, 3.2), layout="constrained", sharex=True)
    everywhere = vectors.mean(axis=0).A1
    for ax, topic in zip(axes, TOPICS, strict=True):
        weight = vectors[predicted == topic].mean(axis=0).A1 - everywhere
        first = np.argsort(weight)[-6:]
        ax.barh(words[first], weight[first], color="0.35")
        ax.set_title(topic, loc="left")
    figure.supxlabel("mean TF-IDF above that of all messages")
    figure.savefig(picture, dpi=110)
    print(f"picture: {picture}")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "texts.png"))
