"""Which pictures were taken at one place, and folds that never part a place."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from leafid.collection.picture import Picture
from leafid.errors import LeafidError

if TYPE_CHECKING:
    import numpy as np

#: Plants closer than this, in km, are at one place; so are those that a chain of such plants joins.
PLACE_KM = 5.0
_EARTH_RADIUS_KM = 6371.0088


def get_coordinates(picture: Picture) -> tuple[float, float] | None:
    """Give latitude and longitude in degrees; None where they aren't known.

    Latitude and longitude of exactly 0, far out at sea, are what devices and data bases write for "not known".
    """
    place = picture.place
    if place is None or place.latitude is None or place.longitude is None:
        return None
    if place.latitude == place.longitude == 0:
        return None
    return place.latitude, place.longitude


def compute_great_circle_km(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Measure distances over the Earth, taken as a sphere.

    Parameters
    ----------
    first : float (n, 2)
        Latitudes and longitudes in degrees.
    second : float (m, 2)

    Returns
    -------
    float64 (n, m)
        In km. NaN where a coordinate is.

    References
    ----------
    .. [1] R. W. Sinnott, "Virtues of the haversine", Sky and Telescope 68(2), 1984, p. 159

    Examples
    --------
    A degree of latitude is 111.2 km everywhere:

    >>> import numpy as np
    >>> compute_great_circle_km(np.array([[43.0, 3.0]]), np.array([[44.0, 3.0]])).round(1)
    array([[111.2]])
    """
    import numpy as np

    latitude, longitude = np.radians(first).T[:, :, None]
    other_latitude, other_longitude = np.radians(second).T[:, None, :]
    haversine = (
        np.sin((other_latitude - latitude) / 2) ** 2
        + np.cos(latitude) * np.cos(other_latitude) * np.sin((other_longitude - longitude) / 2) ** 2
    )
    return 2 * _EARTH_RADIUS_KM * np.arcsin(np.sqrt(np.clip(haversine, 0, 1)))


def label_places(pictures: Sequence[Picture], within_km: float = PLACE_KM) -> np.ndarray:
    """Give pictures of one place one number.

    Two plants are at one place when they are closer than a distance, or when a chain of such plants joins them.

    Parameters
    ----------
    pictures : sequence of Picture
        A plant without known coordinates may be anywhere: all of these count as one place.
    within_km : float, default 5

    Returns
    -------
    int64 (n,)
        From 0, in the order in which places first occur. The pictures of a plant have the same number.
    """
    import numpy as np
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    groups: dict[str, int] = {}
    spots: dict[tuple[float, float], int] = {}
    plant = np.array([groups.setdefault(picture.group, len(groups)) for picture in pictures], np.int64)
    found = [get_coordinates(picture) for picture in pictures]
    spot = np.array([-1 if one is None else spots.setdefault(one, len(spots)) for one in found], np.int64)
    known = spot >= 0
    # Nodes: plants, then spots, then the unknown place. A plant is joined to its spots, close spots to each other.
    nowhere = len(groups) + len(spots)
    located = np.zeros(len(groups), bool)
    located[plant[known]] = True
    lost = np.flatnonzero(~located)
    rows, cols = [plant[known], lost], [len(groups) + spot[known], np.full(len(lost), nowhere)]
    if spots:
        near = len(groups) + _near_pairs(np.array(list(spots)), within_km)
        rows.append(near[:, 0])
        cols.append(near[:, 1])
    ends = np.concatenate(rows), np.concatenate(cols)
    graph = coo_array((np.ones(len(ends[0]), bool), ends), shape=(nowhere + 1, nowhere + 1))
    component = connected_components(graph, directed=False)[1][plant]
    numbers: dict[int, int] = {}
    return np.array([numbers.setdefault(int(one), len(numbers)) for one in component], np.int64)


def _near_pairs(spots: np.ndarray, within_km: float) -> np.ndarray:
    """List the pairs of spots that are closer than a distance over the Earth: int (p, 2), each pair once.

    A tree of the spots in space, where the line between two is the chord of their arc, spares measuring all pairs.
    """
    import numpy as np
    from scipy.spatial import cKDTree

    latitude, longitude = np.radians(spots).T
    directions = np.column_stack(
        [np.cos(latitude) * np.cos(longitude), np.cos(latitude) * np.sin(longitude), np.sin(latitude)]
    )
    # No two spots are further apart than half around the Earth.
    chord = 2 * np.sin(min(within_km / (2 * _EARTH_RADIUS_KM), np.pi / 2))
    return cKDTree(directions).query_pairs(chord, output_type="ndarray")


def split_by_place(
    pictures: Sequence[Picture], n_folds: int, seed: int, within_km: float = PLACE_KM
) -> list[np.ndarray]:
    """Deal whole places out to folds, so that what was learned is asked of elsewhere.

    A place goes, the one with the most plants first and equal ones in an order shuffled by the seed, to the fold that
    has the fewest plants so far.

    Parameters
    ----------
    pictures : sequence of Picture
    n_folds : int
        At least 2, and at most as many as there are places.
    seed : int
    within_km : float, default 5
        As in `label_places`.

    Returns
    -------
    list of ndarray of int64
        For every fold the indices of its test pictures, ascending; together they are all indices, each once. No
        plant is parted either. The pictures' order doesn't matter to which pictures go together.

    Raises
    ------
    LeafidError
        When there are fewer places than folds.
    """
    import numpy as np

    if n_folds < 2:
        raise ValueError(f"n_folds: expected at least 2, found {n_folds}")
    labels = label_places(pictures, within_km)
    n_places = int(labels.max(initial=-1)) + 1
    if n_places < n_folds:
        raise LeafidError(
            f"expected at least {n_folds} places, {within_km:g} km apart, for {n_folds} folds, found {n_places} "
            "(plants without coordinates count as one place)"
        )
    plants: list[set[str]] = [set() for _ in range(n_places)]
    for label, picture in zip(labels, pictures, strict=True):
        plants[label].add(picture.group)
    # Sorted by name first, so that the pictures' order doesn't matter.
    names = sorted(range(n_places), key=lambda place: min(plants[place]))
    order = [names[position] for position in np.random.default_rng(seed).permutation(n_places)]
    folds: list[list[int]] = [[] for _ in range(n_folds)]
    sizes = [0] * n_folds
    for place in sorted(order, key=lambda place: -len(plants[place])):
        fold = min(range(n_folds), key=lambda f: sizes[f])
        folds[fold] += np.flatnonzero(labels == place).tolist()
        sizes[fold] += len(plants[place])
    return [np.array(sorted(fold), dtype=np.int64) for fold in folds]
