"""What the scripts of this folder share: they describe pictures, and answer for a fold by a classifier of the others.

Each is called as `python hog_svm.py COLLECTION FOLDS.csv OUTPUT.npz`. The folds are a table with the columns `picture`,
`plant`, `fold` and `repeat`, of which the first repeat is used; the output has the arrays `pictures`, `species` and
`scores`, float (n_pictures, n_species), the best species highest and those without a training picture 0.
"""

import csv
import sys
import time
from pathlib import Path

import numpy as np
from scipy.special import softmax
from sklearn.base import clone

import leafid


def evaluate_on_folds(describe, classifier):
    """Describe each picture, train the classifier without each fold, and write its answers for the fold.

    `describe` turns a `leafid.Picture` into an array. `classifier` is one of scikit-learn, which takes a list of them;
    what it learns from pictures, such as a codebook, belongs into it, so that no fold has seen the pictures it names.
    """
    collection, folds_file, output = sys.argv[1:]
    with Path(folds_file).open(encoding="utf-8", newline="") as table:
        rows = list(csv.DictReader(table))
    fold_of = {
        row["picture"]: row["fold"]
        for row in rows
        if row["repeat"] == rows[0]["repeat"]
    }
    pictures = [
        picture
        for picture in leafid.read_collection(collection).pictures
        if picture.name in fold_of
    ]
    described, seconds = _time_each(describe, pictures)
    labels = np.array([picture.species for picture in pictures])
    folds = np.array([fold_of[picture.name] for picture in pictures])
    species = np.unique(labels)
    scores = np.zeros((len(pictures), len(species)), np.float32)
    for fold in np.unique(folds):
        training, test = np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
        trained = clone(classifier).fit(
            [described[index] for index in training], labels[training]
        )
        columns = np.searchsorted(species, trained.classes_)
        scores[np.ix_(test, columns)] = _score(
            trained, [described[index] for index in test]
        )
    np.savez(
        output,
        pictures=[picture.name for picture in pictures],
        species=species,
        scores=scores,
    )
    # The last fold is asked again, one picture at a time, as a person would ask.
    seconds += _time_each(
        lambda index: _score(trained, [described[index]]), test[:100]
    )[1]
    print(
        f"{len(pictures)} pictures, {1000 * seconds:.1f} ms each to describe and to classify (median)"
    )


def _score(trained, described):
    """Return probabilities, or what ranks species alike; float (n_pictures, n_classes)."""
    if hasattr(trained, "predict_proba"):
        return trained.predict_proba(described)
    return softmax(trained.decision_function(described), axis=1)


def _time_each(function, items):
    """Call a function with each item; returns the results, and the median of the seconds a call took."""
    results, seconds = [], []
    for item in items:
        start = time.perf_counter()
        results.append(function(item))
        seconds.append(time.perf_counter() - start)
    return results, np.median(seconds)
