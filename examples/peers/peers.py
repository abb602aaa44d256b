"""The frame of the scripts of this folder: descriptions, folds, and answers.

A classifier of the other folds answers for each fold. Each is called as `python
hog_svm.py COLLECTION FOLDS.csv OUTPUT.npz`. The folds are a table with the columns
`picture`, `fold` and, for several repeats, `repeat`; a file is written for each repeat,
then `OUTPUT-0.npz`, `OUTPUT-1.npz`, …. It has the arrays `pictures`, `species` and
`scores`, float (n_pictures, n_species), which are highest for the best species and 0
for a species without a training picture.
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
    """Describe each picture, and write the answers of a classifier for each fold.

    The classifier is trained on the other folds. `describe` turns a `leafid.Picture`
    into an array. `classifier` is one of scikit-learn, which takes a list of them; what
    it learns from pictures, such as a codebook, belongs into it, so that no fold has
    seen the pictures it names.
    """
    collection, folds_file, output = sys.argv[1:]
    fold_of = {}
    with Path(folds_file).open(encoding="utf-8", newline="") as table:
        for row in csv.DictReader(table):
            repeat = fold_of.setdefault(row.get("repeat", "0"), {})
            repeat[row["picture"]] = row["fold"]
    names = set().union(*fold_of.values())
    pictures = [
        picture
        for picture in leafid.read_collection(collection).pictures
        if picture.name in names
    ]
    described, seconds = _time_each(describe, pictures)
    for repeat, folds in fold_of.items():
        file = Path(output)
        if len(fold_of) > 1:
            file = file.with_stem(f"{file.stem}-{repeat}")
        last = _answer_folds(pictures, described, folds, classifier, file)
    # The last fold is asked again, one picture at a time, as a person would ask.
    trained, test = last
    seconds += _time_each(
        lambda index: _score(trained, [described[index]]), test[:100]
    )[1]
    print(
        f"{len(pictures)} pictures, {1000 * seconds:.1f} ms of processor time each to "
        "describe and to classify (median)"
    )


def _answer_folds(pictures, described, fold_of, classifier, file):
    """Write the answers for each fold.

    Returns the classifier without the last one, and the indices of its pictures.
    """
    labels = np.array([picture.species for picture in pictures])
    folds = np.array([fold_of[picture.name] for picture in pictures])
    species = np.unique(labels)
    scores = np.zeros((len(pictures), len(species)), np.float32)
    for fold in np.unique(folds):
        training = np.flatnonzero(folds != fold)
        test = np.flatnonzero(folds == fold)
        trained = clone(classifier).fit(
            [described[index] for index in training], labels[training]
        )
        columns = np.searchsorted(species, trained.classes_)
        scores[np.ix_(test, columns)] = _score(
            trained, [described[index] for index in test]
        )
    np.savez(
        file,
        pictures=[picture.name for picture in pictures],
        species=species,
        scores=scores,
    )
    return trained, test


def _score(trained, described):
    """Return probabilities, or what ranks species alike.

    Float (n_pictures, n_classes).
    """
    if hasattr(trained, "predict_proba"):
        return trained.predict_proba(described)
    decisions = trained.decision_function(described)
    if decisions.ndim == 1:
        # Of two species, scikit-learn scores the second one only.
        decisions = np.column_stack([-decisions, decisions])
    return softmax(decisions, axis=1)


def _time_each(function, items):
    """Call a function with each item.

    Returns the results, and the median of the seconds of processor time that a call
    took, which depend little on what else the machine does.
    """
    results = []
    seconds = []
    for item in items:
        start = time.process_time()
        results.append(function(item))
        seconds.append(time.process_time() - start)
    return results, np.median(seconds)
