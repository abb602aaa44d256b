#!/bin/sh
# From a collection of your own to a table in LaTeX: examples/table_for_a_paper.sh [COLLECTION [OUTPUT]]
set -eu
folder=$(dirname "$0")
collection=${1:-data/sample}
output=${2:-table}
leafid info "$collection" >&2    # what would spoil the experiment is at the end
leafid experiment "$folder/table_for_a_paper.toml" "$collection" --output "$output" --format latex
