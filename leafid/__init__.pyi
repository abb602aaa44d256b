"""The public names; `__init__.py` imports them when they are first used."""

from .api import explain as explain
from .api import extend as extend
from .api import load_model as load_model
from .api import train as train
from .errors import LeafidError as LeafidError
from .measurement import describe as describe
from .measurement import measure as measure
from .measurement import segment as segment
from .measurement import traits as traits
from .model.answer import Answer as Answer
from .model.model import Model as Model
from .pages.explaining import Explanation as Explanation
from .pages.report_files import report as report
from .pictures.decoding import read_image as read_image
from .pictures.picture import AcquisitionType as AcquisitionType
from .pictures.picture import Collection as Collection
from .pictures.picture import Picture as Picture
from .pictures.reading import read_collection as read_collection
from .scoring.comparison import compare as compare
from .scoring.curves import compute_curves as compute_curves
from .scoring.evaluation import evaluate as evaluate
from .scoring.hierarchy import evaluate_hierarchy as evaluate_hierarchy
from .scoring.reading.checking import check as check
from .scoring.reading.checking import convert as convert
from .scoring.resampling import Bootstrap as Bootstrap
from .segmentation.result import Segmentation as Segmentation
from .studies.api import crossval as crossval
from .studies.api import experiment as experiment
from .studies.api import make_folds as make_folds
from .translation import using_language as using_language

__version__: str
