"""Ridge by sums over batches, against scikit-learn on all rows at once."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Ridge

from leafid.errors import LeafidError
from leafid.learning.disk_backed_array import DiskBackedArray
from leafid.learning.linear import apply_feature_map
from leafid.learning.ridge import DualRidge, PrimalRidge
from leafid.learning.training_matrix import TrainingMatrix


def drawn(n, d, n_species, seed, n_parts=3):
    """Vectors as half precision keeps them, labels, weights, types and parts."""
    random = np.random.default_rng(seed)
    labels = random.permutation(np.arange(n) % n_species)
    centres = random.normal(size=(n_species, d))
    vectors = np.abs(centres[labels] + random.normal(size=(n, d))).astype(np.float16).astype(np.float32)
    parts = [np.flatnonzero(part) for part in random.integers(n_parts, size=n) == np.arange(n_parts)[:, None]]
    return vectors, labels, random.uniform(0.2, 3, n), random.integers(2, size=n), [p for p in parts if len(p)]


def literal(vectors, map_, standardise, domains, own_type):
    """Give the rows as the documents say it, in double precision, and what takes new vectors there."""
    values = apply_feature_map(vectors, map_).astype(np.float64)
    domains = np.zeros(len(values), int) if domains is None else domains
    means = np.stack([values[domains == t].mean(axis=0) for t in range(domains.max() + 1)])
    centred = values - means[domains]
    scale = np.ones(values.shape[1])
    if standardise:
        spread = centred.std(axis=0)
        scale = np.where(spread > 1e-6, 1 / np.maximum(spread, 1e-6), 0) / np.sqrt((spread > 1e-6).sum())
    return centred * scale, lambda new: (apply_feature_map(new, map_) - means[own_type]) * scale


def targets_of(labels, seen):
    return np.where(labels[:, None] == seen, 1.0, -1.0)


ROWS = st.fixed_dictionaries(
    {
        "n": st.integers(12, 60),
        "n_species": st.integers(2, 5),
        "map_": st.sampled_from(["none", "chi2"]),
        "standardise": st.booleans(),
        "typed": st.booleans(),
        "reweighted": st.booleans(),
        "batch_size": st.integers(1, 25),
        "regularisation": st.sampled_from([0.03, 0.1, 2.0]),
        "seed": st.integers(0, 99),
    }
)


def learner(kind, given_, n_columns, in_memory=2**20):
    vectors, labels, weights, domains, parts = drawn(given_["n"], n_columns, given_["n_species"], given_["seed"])
    domains = domains if given_["typed"] and len(set(domains)) == 2 else None
    own_type = 0 if domains is None else 1
    array = DiskBackedArray(in_memory=in_memory)
    array.append(vectors)
    rows = TrainingMatrix(
        array,
        given_["map_"],
        standardise=given_["standardise"],
        domains=domains,
        batch_size=given_["batch_size"],
    )
    wanted, new_rows = literal(vectors, given_["map_"], given_["standardise"], domains, own_type)
    random = np.random.default_rng(given_["seed"])
    fold_weights = [random.uniform(0.2, 3, len(labels)) for _ in parts] if given_["reweighted"] else None
    made = kind(rows, labels, weights, [parts], given_["regularisation"], fold_weights)

    def scores(fit, new):
        return rows.adapt_to_domain(made.make_scorer(fit), own_type).scores(new)

    return made, wanted, new_rows, scores, array


def weights_of(made, train, left_out):
    return (made.weights if left_out is None or not made.fold_weights else made.fold_weights[left_out])[train]


@given(ROWS, st.integers(1, 4), st.booleans())
@settings(deadline=None, max_examples=40)
def test_sums_over_batches_are_the_ridge_of_all_rows(given_, d, on_disk):
    made, X, new_rows, scores, array = learner(PrimalRidge, given_, d, 1 if on_disk else 2**20)
    new = np.abs(np.random.default_rng(1).normal(size=(7, d))).astype(np.float32)
    for left_out in [None, *range(len(made.folds))] if len(made.folds) > 1 else [None]:
        fit = made.fit(left_out)
        train = np.setdiff1d(np.arange(len(X)), [] if left_out is None else made.folds[left_out])
        seen = np.unique(made.labels[train])
        np.testing.assert_array_equal(fit.classes, seen)
        if len(seen) < 2:
            continue
        wanted = Ridge(made.regularisation, solver="cholesky").fit(
            X[train], targets_of(made.labels[train], seen), sample_weight=weights_of(made, train, left_out)
        )
        # Prepared rows and the answer are float32, all between is float64.
        np.testing.assert_allclose(made.score_rows(fit, np.arange(len(X))), wanted.predict(X), atol=2e-4)
        np.testing.assert_allclose(scores(fit, new), wanted.predict(new_rows(new)), atol=1e-3)
    made.close()
    array.close()


@given(ROWS)
@settings(deadline=None, max_examples=25)
def test_inner_products_by_blocks_are_the_kernel_ridge_of_all_rows(given_):
    made, X, new_rows, scores, array = learner(DualRidge, given_, given_["n"] + 10)
    new = np.abs(np.random.default_rng(1).normal(size=(7, given_["n"] + 10))).astype(np.float32)
    for left_out in [None, *range(len(made.folds))] if len(made.folds) > 1 else [None]:
        fit = made.fit(left_out)
        train = np.setdiff1d(np.arange(len(X)), [] if left_out is None else made.folds[left_out])
        if len(fit.classes) < 2:
            continue
        targets, weights = targets_of(made.labels[train], fit.classes), weights_of(made, train, left_out)
        offset = weights @ targets / weights.sum()
        wanted = KernelRidge(alpha=made.regularisation).fit(X[train], targets - offset, sample_weight=weights)
        # Inner products are float32 and up to 100, scores about 1; the weakest penalty is 0.03.
        np.testing.assert_allclose(made.score_rows(fit, np.arange(len(X))), wanted.predict(X) + offset, atol=5e-3)
        np.testing.assert_allclose(scores(fit, new), wanted.predict(new_rows(new)) + offset, atol=5e-3)
    array.close()


@pytest.mark.parametrize("kind", [PrimalRidge, DualRidge])
def test_batches_hardly_count(kind):
    """How rows are put into batches changes the order of sums, and nothing else."""
    vectors, labels, weights, domains, parts = drawn(50, 20, 3, 0)
    scores = []
    for batch_size in (1, 7, 50, 1000):
        rows = TrainingMatrix(vectors, "chi2", standardise=True, domains=domains, batch_size=batch_size)
        made = kind(rows, labels, weights, [parts], 0.1)
        scores.append(made.make_scorer(made.fit(0)).scores(vectors))
        made.close()
    # Float32 scores of up to 2, from sums over 50 rows.
    for other in scores[1:]:
        np.testing.assert_allclose(other, scores[0], atol=2e-5)


def peak_of_fit(n_rows):
    random = np.random.default_rng(0)
    with DiskBackedArray(in_memory=1) as array:
        for _ in range(n_rows // 500):
            array.append(random.normal(size=(500, 80)))
        labels, weights = np.arange(n_rows) % 5, np.ones(n_rows)
        parts = np.array_split(random.permutation(n_rows), 5)
        tracemalloc.start()
        rows = TrainingMatrix(array, "none", standardise=True, batch_size=200)
        made = PrimalRidge(rows, labels, weights, [parts], 0.1)
        made.make_scorer(made.fit(0))
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        made.close()
    return peak


def test_memory_does_not_grow_with_the_rows():
    few, many = peak_of_fit(2_000), peak_of_fit(8_000)
    # What may grow is an index or two of 8 bytes a row (48 kB); the vectors would be 1.9 MB more in float32.
    assert many < few + 8_000 * 8 * 4


@pytest.mark.parametrize("kind", [PrimalRidge, DualRidge])
@pytest.mark.parametrize("standardise", [False, True])
def test_constant_columns(kind, standardise):
    vectors, labels, weights, _, parts = drawn(40, 6, 3, 0)
    vectors[:, 2] = 1000.25
    plain = kind(
        TrainingMatrix(np.delete(vectors, 2, 1), "none", standardise=standardise), labels, weights, [parts], 0.1
    )
    made = kind(TrainingMatrix(vectors, "none", standardise=standardise), labels, weights, [parts], 0.1)
    fit = made.fit(1)
    # The column and its mean are exact in float32; the scores, of up to 2, are float32.
    np.testing.assert_allclose(
        made.score_rows(fit, np.arange(40)), plain.score_rows(plain.fit(1), np.arange(40)), atol=1e-6
    )
    assert not made.make_scorer(fit).coefficients[2].any()
    made.close()
    plain.close()


@pytest.mark.parametrize("kind", [PrimalRidge, DualRidge])
def test_one_species_scores_nothing(kind):
    vectors, _, weights, _, parts = drawn(20, 4, 2, 0)
    made = kind(TrainingMatrix(vectors, "none", standardise=True), np.zeros(20, int), weights, [parts], 0.1)
    scores = made.make_scorer(made.fit()).scores(vectors)
    made.close()
    assert scores.shape == (20, 1)
    assert not scores.any()


@pytest.mark.parametrize("kind", [PrimalRidge, DualRidge])
def test_equal_rows_say_how_frequent_species_are(kind):
    made = kind(
        TrainingMatrix(np.ones((4, 3), np.float32), "none", standardise=True), np.array([0, 0, 0, 1]), np.ones(4), [], 1
    )
    np.testing.assert_allclose(made.score_rows(made.fit(), np.arange(4)), [[0.5, -0.5]] * 4)
    made.close()


@pytest.mark.parametrize("kind", [PrimalRidge, DualRidge])
def test_a_penalty_that_is_too_weak(kind):
    vectors = np.repeat(np.random.default_rng(0).normal(size=(30, 1)), 4, axis=1).astype(np.float32)
    rows = TrainingMatrix(1e6 * vectors, "none", standardise=False)
    made = kind(rows, np.arange(30) % 2, np.ones(30), [[np.arange(30)]], 1e-300)
    with pytest.raises(LeafidError, match=r"regularisation of 1e-300 is too weak for 30 pictures"):
        made.fit()
    made.close()


def test_rows_in_half_precision_are_widened_to_the_bit():
    halves = np.arange(2**16, dtype=np.uint16).view(np.float16)
    finite = halves[np.isfinite(halves)].reshape(-1, 1)
    # With a batch size, rows are not kept in memory but prepared from the vectors.
    matrix = TrainingMatrix(finite, "none", standardise=False, batch_size=1000)
    wide = TrainingMatrix(finite.astype(np.float32), "none", standardise=False, batch_size=1000)
    assert matrix.rows_in_memory.tobytes() == wide.rows_in_memory.tobytes()
