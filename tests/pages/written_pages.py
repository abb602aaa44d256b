"""Checks that every page passes: well-formed, accessible, and a single file."""

import re
from html.parser import HTMLParser

VOID = {
    "meta",
    "img",
    "link",
    "br",
    "input",
    "hr",
    "circle",
    "path",
    "polygon",
    "image",
    "line",
    "rect",
}


class Page(HTMLParser):
    """A page: its headings by level, its text, and the number of its images."""

    def __init__(self) -> None:
        super().__init__()
        self.open, self.ids, self.targets, self.problems = [], [], [], []
        self.headings = {level: [] for level in range(1, 7)}
        self.text, self.images, self.levels = "", [], []

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        if tag not in VOID:
            self.open.append(tag)
        if "id" in values:
            self.ids.append(values["id"])
        self.targets += [values[key] for key in ("href", "src") if key in values]
        self.targets += [
            f"#{name}"
            for key in ("aria-labelledby",)
            for name in values.get(key, "").split()
        ]
        if tag == "img":
            self.images.append(values["src"])
            if "alt" not in values:
                self.problems.append("an image without alt text")
        is_named = (
            values.get("role") == "img"
            and {"aria-label", "aria-labelledby"} & values.keys()
        )
        if tag == "svg" and not is_named and "aria-hidden" not in values:
            self.problems.append("a drawing without a name")
        if tag == "th" and values.get("scope") not in {"row", "col"}:
            self.problems.append("a th without scope")
        if tag in {"iframe", "object"} or any(key.startswith("on") for key in values):
            self.problems.append(f"<{tag} {values}>")
        if re.fullmatch("h[1-6]", tag):
            self.levels.append(int(tag[1]))
            self.headings[int(tag[1])].append("")

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.problems.append(f"</{tag}> closes another element")

    def handle_data(self, data):
        if self.open[-1:] not in (["style"], ["script"]):
            self.text += data
        for tag in self.open:
            if re.fullmatch("h[1-6]", tag):
                self.headings[int(tag[1])][-1] += data

    @property
    def words(self):
        return " ".join(self.text.split())


def check_page(file):
    """Parse a page and check it; return what it holds."""
    text = file.read_text(encoding="utf-8")
    assert text.startswith("<!doctype html>\n<html lang=")
    page = Page()
    page.feed(text)
    page.close()
    page.html = text
    assert page.problems == []
    assert page.open == []
    assert len(set(page.ids)) == len(page.ids)
    for target in page.targets:
        assert target.startswith("data:image/") or (
            target[0] == "#" and target[1:] in page.ids
        ), target[:80]
    assert page.levels[0] == 1
    assert page.levels.count(1) == 1
    steps = zip(page.levels, page.levels[1:], strict=False)
    assert all(after <= before + 1 for before, after in steps), page.levels
    assert not re.search(r"url\((?!#)", text)
    return page
