"""Run files of the 2011 format."""

from leafid.scoring.reading.runs import format_run_line


def write_run(file, rankings):
    """Write each picture's species with their scores, the best first."""
    lines = [
        format_run_line(picture, species, rank, score)
        for picture, ranking in rankings.items()
        for rank, (species, score) in enumerate(ranking, 1)
    ]
    file.write_text("".join(lines), encoding="utf-8")
