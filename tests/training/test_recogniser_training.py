import numpy as np

from benchmarks.altering import ALTERATIONS
from benchmarks.disturbing import DISTURBANCES
from leafid.features.extractor import TYPE_SIDE, measure_type_features
from leafid.features.loader import FeatureLoader
from leafid.pictures.decoding import read_image
from leafid.pictures.reading import read_collection
from leafid.pictures.splitting.units import split_by_plant
from leafid.segmentation.segment import segment
from leafid.training.model import train_recogniser
from tests.drawing.collection import SAMPLE

SURROUNDINGS = ("dark card", "blue card", "cloth", "wood", "charts", "ruler")


def test_a_leaf_in_other_surroundings_is_no_photo_and_a_photo_stays_one():
    pictures = read_collection(SAMPLE).select_labelled().pictures
    test, *_ = split_by_plant(pictures, 3, 0)
    training = [p for index, p in enumerate(pictures) if index not in set(test)]
    recogniser = train_recogniser(training, FeatureLoader(), 0)
    random = np.random.default_rng(0)
    is_photo = {name: [] for name in ("photo", *SURROUNDINGS)}
    for picture in [pictures[index] for index in test]:
        image = read_image(picture.file, TYPE_SIDE)
        shown = {}
        if picture.type == "photo":
            shown["photo"] = image
        elif picture.type == "scan-like":
            leaf = segment(image, picture.type, petiole=False).mask
            for name in SURROUNDINGS:
                alter = (ALTERATIONS | DISTURBANCES)[name]
                shown[name], _ = alter(image, leaf, random)
        for name, altered in shown.items():
            type_, _ = recogniser.recognise(measure_type_features(altered))
            is_photo[name].append(type_ == "photo")
    shares = {name: np.mean(values) for name, values in is_photo.items()}
    assert shares.pop("photo") >= 0.9
    assert max(shares.values()) < 0.15, shares
