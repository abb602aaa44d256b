"""Score the answers of two systems, here two pipelines of scikit-learn, and test whether they differ."""

from pathlib import Path

from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline

import leafid
from leafid.cli.main import main
from leafid.sklearn import LeafDescriptor

collection = leafid.read_collection("data/sample")
training, tests = collection.part("train").pictures, collection.part("test").pictures
for name, families in {"hu": ["hu"], "geometry": ["geometry", "lobes"]}.items():
    # A picture without a leaf has no measures.
    system = make_pipeline(LeafDescriptor(families), SimpleImputer(), LinearDiscriminantAnalysis())
    system.fit([picture.file for picture in training], [picture.species for picture in training])
    with Path(f"{name}.txt").open("w", encoding="utf-8") as run:
        for picture, row in zip(tests, system.predict_proba([picture.file for picture in tests]), strict=True):
            for rank, column in enumerate(row.argsort()[::-1], start=1):
                run.write(f"{picture.name} {system.classes_[column]} {rank} {row[column]:.6f}\n")

# As `leafid evaluate data/sample …` in a terminal does; `leafid.evaluate` returns the scores to Python.
for command in ("evaluate", "compare"):
    main([command, "data/sample", "geometry.txt", "hu.txt", "--part", "test"])
