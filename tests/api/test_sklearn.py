import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.utils import estimator_checks

import leafid
from leafid.sklearn import LeafClassifier, LeafDescriptor

#: All other checks of scikit-learn call fit with a matrix of numbers. These estimators
#: take pictures, and say so by their tags, so that `check_estimator` leaves those
#: checks out.
CHECKS_WITHOUT_INPUT = [
    estimator_checks.check_estimator_cloneable,
    estimator_checks.check_estimator_repr,
    estimator_checks.check_get_params_invariance,
    estimator_checks.check_no_attributes_set_in_init,
    estimator_checks.check_parameters_default_constructible,
    estimator_checks.check_set_params,
]


@pytest.fixture(scope="module")
def scans(drawn):
    """Paths, labels and plants of the drawn scans."""
    pictures = [
        p
        for p in leafid.read_collection(drawn).part("train").pictures
        if p.type == "scan"
    ]
    return (
        [str(picture.file) for picture in pictures],
        np.array([picture.species for picture in pictures]),
        np.array([picture.plant for picture in pictures]),
    )


@pytest.fixture
def classifier(small_recipe, drawn_cache):
    return LeafClassifier(str(small_recipe), "scan", cache=str(drawn_cache))


def test_descriptor_measures_paths_and_images(scans):
    files, _, _ = scans
    descriptor = LeafDescriptor(["geometry", "hu"], "scan")
    matrix = descriptor.fit_transform(files[:3])
    names = descriptor.get_feature_names_out()
    assert matrix.shape == (3, len(names))
    image = leafid.read_image(files[0])
    values = leafid.describe(image, leafid.segment(image, "scan"), ["geometry", "hu"])
    assert dict(zip(names, matrix[0], strict=True)) == values
    np.testing.assert_array_equal(descriptor.transform([image]), matrix[:1])
    np.testing.assert_array_equal(
        descriptor.set_params(jobs=2).transform(files[:3]), matrix
    )


def test_cached_measures_equal_computed_ones(scans, tmp_path):
    files, _, _ = scans
    descriptor = LeafDescriptor(["geometry"], "scan", cache=tmp_path)
    first = descriptor.fit_transform(files[:2])
    assert list(tmp_path.iterdir())
    np.testing.assert_array_equal(descriptor.transform(files[:2]), first)
    np.testing.assert_array_equal(
        clone(descriptor).set_params(cache=False).fit_transform(files[:2]), first
    )
    with pytest.raises(leafid.LeafidError, match=r"nowhere\.jpg: no such file"):
        descriptor.transform([*files[:2], "nowhere.jpg"])


def test_the_features_of_a_model_are_a_step_of_a_pipeline(
    scans, drawn_model, drawn_cache
):
    files, species, plants = scans
    embed = FunctionTransformer(
        leafid.load_model(drawn_model).embed,
        kw_args={"assume_type": "scan", "cache": drawn_cache},
    )
    pipeline = make_pipeline(embed, StandardScaler(), LogisticRegression())
    folds = GroupKFold(3)
    scores = cross_val_score(pipeline, files, species, groups=plants, cv=folds)
    assert scores.mean() > 0.5
    with pytest.raises(leafid.LeafidError, match="no such file"):
        embed.transform([*files[:2], "nowhere.jpg"])


def test_a_picture_without_a_leaf_is_a_row_of_nan():
    white = np.full((60, 80, 3), 255, np.uint8)
    assert np.isnan(LeafDescriptor(["hu"], "scan").fit_transform([white])).all()


def test_classifier_predicts_what_the_program_does(scans, classifier):
    files, species, plants = scans
    fitted = classifier.fit(files, species, groups=plants)
    assert list(fitted.classes_) == sorted(set(species))
    probabilities = fitted.predict_proba(files)
    assert probabilities.shape == (len(files), len(fitted.classes_))
    np.testing.assert_allclose(probabilities.sum(axis=1), 1, atol=1e-6)
    assert (
        (fitted.predict(files) == species).mean() == fitted.score(files, species) > 0.8
    )


@pytest.mark.parametrize(
    "estimator",
    [LeafDescriptor(["hu"]), LeafClassifier("fast", cache=False)],
)
def test_invalid_input_is_refused(estimator):
    for wrong in ("leaf.jpg", np.zeros((3, 4)), [], [1, 2], None, [None]):
        with pytest.raises(ValueError, match=r"X.*: expected"):
            estimator.fit(wrong, [0, 1])


@pytest.mark.parametrize(
    "check", CHECKS_WITHOUT_INPUT, ids=lambda check: check.__name__
)
@pytest.mark.parametrize(
    "estimator",
    [LeafDescriptor(), LeafClassifier()],
    ids=lambda estimator: type(estimator).__name__,
)
def test_checks_of_scikit_learn(estimator, check):
    check(type(estimator).__name__, clone(estimator))
