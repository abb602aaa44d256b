"""Groups pictures by the place at which they were taken."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import TYPE_CHECKING

from leafid.pictures.picture import Picture

if TYPE_CHECKING:
    import numpy as np

#: Distance in km below which two plants are at the same place.
PLACE_KM = 5.0
_EARTH_RADIUS_KM = 6371.0088


def get_coordinates(picture: Picture) -> tuple[float, float] | None:
    """Return latitude and longitude in degrees, or None if they are unknown.

    Devices and databases write 0, 0, a point far out at sea, for unknown coordinates.
    """
    place = picture.place
    if place is None or place.latitude is None or place.longitude is None:
        return None
    if place.latitude == place.longitude == 0:
        return None
    return place.latitude, place.longitude


def label_places(pictures: Sequence[Picture], within_km: float = PLACE_KM) -> np.ndarray:
    """Label each picture with the number of its place, from 0 in the order of their first pictures: int64 (n,).

    Two plants are at the same place if they are closer than `within_km`, or if a chain of such plants joins them; all
    pictures of a plant are at one place. As a plant without coordinates may be anywhere, all of these form one place.
    """
    import numpy as np
    from sklearn.cluster import DBSCAN

    coordinates = [get_coordinates(picture) for picture in pictures]
    is_known = np.array([point is not None for point in coordinates], bool)
    clusters = np.full(len(pictures), None)
    if is_known.any():
        points, inverse = np.unique([point for point in coordinates if point is not None], axis=0, return_inverse=True)
        # With min_samples=1, the clusters are the connected components of near points.
        search = DBSCAN(eps=within_km / _EARTH_RADIUS_KM, min_samples=1, metric="haversine", algorithm="ball_tree")
        # NumPy 2.0.0 returns the inverse as a column.
        clusters[is_known] = search.fit_predict(np.radians(points))[inverse.ravel()]
    return label_groups(pictures, clusters.tolist())


def label_groups(pictures: Sequence[Picture], values: Sequence[Hashable | None]) -> np.ndarray:
    """Label each picture with the number of its value, from 0 in the order of their first pictures: int64 (n,).

    Values that pictures of one plant have are one group. All plants without any value form one group.
    """
    import numpy as np
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    plants = _number(picture.group for picture in pictures)
    is_known = np.array([value is not None for value in values], bool)
    # Group 0 is the unknown value.
    groups = np.zeros(len(pictures), np.int64)
    groups[is_known] = 1 + _number(value for value in values if value is not None)
    is_edge = is_known | ~np.isin(plants, plants[is_known])
    n_plants = int(plants.max(initial=-1)) + 1
    n_nodes = n_plants + int(groups.max(initial=0)) + 1
    edges = plants[is_edge], n_plants + groups[is_edge]
    graph = coo_array((np.ones(is_edge.sum(), bool), edges), shape=(n_nodes, n_nodes))
    return _number(connected_components(graph, directed=False)[1][plants].tolist())


def _number(values: Iterable[Hashable]) -> np.ndarray:
    """Replace values by numbers from 0, in the order of their first occurrence: int64 (n,)."""
    import numpy as np

    numbers: dict[Hashable, int] = {}
    return np.array([numbers.setdefault(value, len(numbers)) for value in values], np.int64)
