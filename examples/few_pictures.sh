#!/bin/sh
# With a few pictures of each species: how good they are, and a model of them: examples/few_pictures.sh [COLLECTION]
set -eu
collection=${1:-data/sample}
leafid crossval "$collection" --only-type scan --recipe small --shots 1,2,3 --folds 2 --repeats 1
leafid train "$collection" --only-type scan --recipe small --output few.leafid
