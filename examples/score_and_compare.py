"""Score the answers of two systems, and test whether they differ.

The systems are two pipelines of scikit-learn.
"""

from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline

import leafid
from leafid.sklearn import LeafDescriptor

collection = leafid.read_collection("data/sample")
training = collection.part("train").pictures
tests = collection.part("test").pictures
runs = {}
for name, families in {"hu": ["hu"], "geometry": ["geometry", "lobes"]}.items():
    # A picture without a leaf has no measures.
    system = make_pipeline(
        LeafDescriptor(families), SimpleImputer(), LinearDiscriminantAnalysis()
    )
    system.fit(
        [picture.file for picture in training],
        [picture.species for picture in training],
    )
    probabilities = system.predict_proba([picture.file for picture in tests])
    runs[name] = (probabilities, [picture.name for picture in tests], system.classes_)

metrics = ["S", "top-1", "mrr", "log-loss"]
print(
    leafid.evaluate(tests, runs, metrics, intervals="bounds").render("latex", digits=3)
)
print(leafid.compare(tests, runs, metrics).render())
