"""The public names for type checkers; `__init__.py` imports them when they are first used."""

from leafid.api import extend as extend
from leafid.api import load_model as load_model
from leafid.api import measure as measure
from leafid.api import segment as segment
from leafid.api import train as train
from leafid.errors import LeafidError as LeafidError
from leafid.model.answer import Answer as Answer
from leafid.model.model import Model as Model
from leafid.pictures.collection import Collection as Collection
from leafid.pictures.decoding import read_image as read_image
from leafid.pictures.picture import AcquisitionType as AcquisitionType
from leafid.pictures.picture import Picture as Picture
from leafid.pictures.reading import read_collection as read_collection
from leafid.scoring.evaluation import evaluate as evaluate
from leafid.segmentation.result import Segmentation as Segmentation

__version__: str
