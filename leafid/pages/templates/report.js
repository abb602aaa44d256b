"use strict";
// Lets every table be sorted by its headings, and long ones be filtered.
const LONG = 12;
// Rows of a long table before the button that shows all.
const SHOWN = 50;

function read(cell) {
  const text = cell ? cell.textContent.trim().replace(/^[<>] /, "") : "";
  const number = parseFloat(text);
  return Number.isNaN(number) || !/^[-\d.]/.test(text) ? text : number;
}

function compare(a, b) {
  if (typeof a === typeof b) return typeof a === "number" ? a - b : a.localeCompare(b);
  return typeof a === "number" ? -1 : 1;
}

function sort(table, heading) {
  const column = heading.cellIndex;
  const isRising = heading.getAttribute("aria-sort") !== "ascending";
  const body = table.tBodies[0];
  const rows = [...body.rows].map((row) => [read(row.cells[column]), row]);
  rows.sort(([a], [b]) => (isRising ? compare(a, b) : compare(b, a)));
  body.append(...rows.map(([, row]) => row));
  for (const other of heading.parentNode.cells) other.removeAttribute("aria-sort");
  heading.setAttribute("aria-sort", isRising ? "ascending" : "descending");
  table.dispatchEvent(new Event("sorted"));
}

function addFilter(table) {
  const region = table.closest(".wide");
  const name = region.getAttribute("aria-label");
  const label = document.createElement("label");
  const input = document.createElement("input");
  const more = document.createElement("button");
  let shown = SHOWN;
  input.type = "search";
  label.className = "filter";
  label.append(`Filter ${name[0].toLowerCase()}${name.slice(1)}: `, input);

  function refresh() {
    const words = input.value.toLowerCase().split(/\s+/);
    let count = 0;
    for (const row of table.tBodies[0].rows) {
      const text = row.textContent.toLowerCase();
      row.hidden = !words.every((word) => text.includes(word)) || ++count > shown;
    }
    more.hidden = count <= shown;
    more.textContent = `Show all ${count}`;
  }

  input.addEventListener("input", refresh);
  table.addEventListener("sorted", refresh);
  more.addEventListener("click", () => {
    shown = Infinity;
    refresh();
  });
  region.before(label);
  region.after(more);
  refresh();
}

for (const table of document.querySelectorAll("table.sortable")) {
  for (const heading of table.tHead.rows[0].cells) {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...heading.childNodes);
    button.addEventListener("click", () => sort(table, heading));
    heading.append(button);
  }
  if (table.tBodies[0].rows.length > LONG) addFilter(table);
}
