// Keeps the answers of the session: shows one, lists all in a table with the newest first, and asks again about them.
import { cutOut } from "./crop.js";
import { chooseEnds } from "./ends.js";
import { download, exportCsv, exportJson } from "./export.js";
import { catchUp, forgetInAllTabs, onForgotten } from "./memory.js";
import { forgetNotes, readAnswer, readNote, readNotes, writeNote } from "./notes.js";
import { readPictures } from "./pictures.js";
import { translate } from "./words.js";

const answers = document.getElementById("answers");
const history = document.getElementById("history");
const rows = history.querySelector("tbody");
const together = document.getElementById("one-tree");
const tools = document.getElementById("tools");
const species = document.getElementById("species");
const files = new Map();
// The occurrence that each file shows, by what tells the file from others.
const occurrences = new Map();
const MOST_THUMBNAILS = 3;
// Browsers store some millions of characters, and an answer has some hundred thousand.
const MOST_STORED = 50;
// What leafid says of pictures that it doesn't name.
const VERDICTS = {
  "no-leaf": translate("no leaf"),
  unknown: translate("unknown species"),
  unclear: translate("can’t be judged"),
  unreadable: translate("can’t be read"),
};
let ask, say;

// Reads the answers of a page, and remembers which files and dates they are for.
export function take(html, sources = [], dates = []) {
  const holder = document.createElement("template");
  holder.innerHTML = html;
  const taken = [...holder.content.querySelectorAll(".answer")];
  if (sources.length) {
    for (const answer of taken) {
      files.set(answer.id, sources);
      answer.dataset.answered = new Date().toISOString();
      answer.dataset.dates = JSON.stringify(dates);
      answer.dataset.occurrences = JSON.stringify(
        sources.map((file, index) => findOccurrence(file, `${answer.id}-${index + 1}`)),
      );
    }
  }
  return taken;
}

const makeKey = ({ name, size, lastModified }) => [name, size, lastModified].join("/");

// A picture that is asked about again is the same occurrence.
function findOccurrence(file, fresh) {
  const key = makeKey(file);
  if (!occurrences.has(key)) occurrences.set(key, fresh);
  return occurrences.get(key);
}

// Stores as many of the newest answers as the browser has space for, so that they are here when a person comes back.
export function store() {
  const kept = [...answers.children].slice(0, MOST_STORED).map((answer) => {
    const copy = answer.cloneNode(true);
    for (const added of copy.querySelectorAll(".tools, .remedy")) added.remove();
    return copy.outerHTML;
  });
  do {
    try {
      sessionStorage.setItem("leafid", kept.join(""));
      return;
    } catch {
      kept.pop();
    }
  } while (kept.length);
}

export function restore(asking, saying) {
  [ask, say] = [asking, saying];
  catchUp();
  const shown = [...answers.children];
  answers.replaceChildren();
  let kept = [];
  try {
    kept = take(sessionStorage.getItem("leafid") ?? "");
  } catch {
    // The browser stores nothing.
  }
  show([...shown, ...kept]);
  showEarlier();
  const asked = document.getElementById(location.hash.slice(1));
  if (asked?.matches(".answer")) visit(asked);
}

export function show(newest) {
  answers.prepend(...newest);
  for (const answer of [...newest].reverse()) {
    equip(answer);
    rows.prepend(makeRow(answer));
  }
  history.hidden = !rows.children.length;
  if (answers.children.length) select(answers.children[0]);
}

// Lists what a person noted about answers that are no longer here: it is exported, too.
function showEarlier() {
  for (const [id, note] of Object.entries(readNotes()).reverse()) {
    if (document.getElementById(id)) continue;
    const row = document.getElementById("row").content.firstElementChild.cloneNode(true);
    const { picture, name, verdict } = note.records[0];
    row.querySelector("input").remove();
    row.children[1].textContent = picture;
    row.children[2].textContent = name ?? VERDICTS[verdict];
    tellNote(row, note);
    rows.append(row);
  }
  history.hidden = !rows.children.length;
}

function select(answer) {
  for (const each of answers.children) each.classList.toggle("current", each === answer);
  for (const row of rows.querySelectorAll("[data-answer]")) {
    const isCurrent = row.dataset.answer === answer.id;
    row.querySelector("a").setAttribute("aria-current", isCurrent);
    if (isCurrent) showRow(row);
  }
}

// Scrolls the table, but not the page, to a row.
function showRow(row) {
  const list = row.closest(".listed");
  const top = row.offsetTop;
  if (top < list.scrollTop || top + row.offsetHeight > list.scrollTop + list.clientHeight) list.scrollTop = top;
}

// Shows an answer, or the table where several came at once.
export function visit(answer, isOneOfMany = false) {
  select(answer);
  const title = isOneOfMany ? document.getElementById("history-title") : answer.querySelector("h2");
  title.tabIndex = -1;
  title.focus({ preventScroll: true });
  (isOneOfMany ? history : answer).scrollIntoView();
}

function makeRow(answer) {
  const row = document.getElementById("row").content.firstElementChild.cloneNode(true);
  const { records } = readAnswer(answer);
  const names = records.map(({ picture }) => picture).join(", ");
  const pictures = [...answer.querySelectorAll(".leaf-picture image")].slice(0, MOST_THUMBNAILS);
  row.children[1].prepend(...pictures.map((picture) => Object.assign(new Image(), { alt: "", src: picture.getAttribute("href") })));
  row.dataset.answer = answer.id;
  row.querySelector("a").href = `#${answer.id}`;
  row.querySelector("a").textContent = names;
  row.querySelector("input").setAttribute("aria-label", translate("Mark {names}", { names }));
  row.children[2].textContent = answer.dataset.verdict;
  row.querySelector("a").addEventListener("click", (event) => {
    event.preventDefault();
    visit(answer);
  });
  row.querySelector("input").addEventListener("change", () => {
    together.disabled = getMarked().length < 2;
  });
  tellNote(row, readNote(answer.id));
  return row;
}

function tellNote(row, note) {
  row.children[3].textContent = [note.isRight ? translate("right") : note.name, note.remark].filter(Boolean).join("; ");
}

function getMarked() {
  const marked = [...rows.children].filter((row) => row.querySelector("input")?.checked);
  return marked.map((row) => document.getElementById(row.dataset.answer));
}

// Adds what a person can do with an answer.
function equip(answer) {
  const { records } = readAnswer(answer);
  if (records.every(({ problem }) => problem)) return;
  const box = tools.content.firstElementChild.cloneNode(true);
  const [right, name, remark, type, crop, ends] = box.querySelectorAll("button, input, select");
  const unlisted = box.querySelector(".unlisted");
  const note = readNote(answer.id);
  const tellUnlisted = (said) => {
    const isUnlisted = said.name && !said.species && species.children.length;
    unlisted.textContent = isUnlisted ? translate("leafid doesn’t know that name; it is saved as you wrote it.") : "";
  };
  right.hidden = !records.some(({ name: named }) => named);
  const keep = (change) => {
    const changed = writeNote(answer, change);
    right.setAttribute("aria-pressed", changed.isRight);
    if (changed.isRight) name.value = "";
    tellUnlisted(changed);
    const row = rows.querySelector(`[data-answer="${answer.id}"]`);
    if (row) tellNote(row, changed);
  };
  right.setAttribute("aria-pressed", note.isRight);
  [name.value, remark.value] = [note.name, note.remark];
  right.addEventListener("click", () => keep({ isRight: right.getAttribute("aria-pressed") !== "true", name: "", species: "" }));
  name.addEventListener("focus", listSpecies, { once: true });
  tellUnlisted(note);
  name.addEventListener("change", async () => {
    const given = name.value.trim();
    keep({ name: given, species: findSpecies(given), isRight: false });
    if (species.children.length || !given) return;
    await listSpecies();
    // What a person said meanwhile counts.
    if (readNote(answer.id).name === given) keep({ species: findSpecies(given) });
  });
  remark.addEventListener("change", () => keep({ remark: remark.value.trim() }));
  type.addEventListener("change", async () => {
    const again = await getFiles(answer);
    ask(again, [["assume_type", type.value], ...(again.length > 1 ? [["together", "1"]] : [])]);
    type.value = "";
  });
  ends.hidden = answer.querySelectorAll(".leaf-picture").length !== 1 || records[0].type === "photo";
  ends.addEventListener("click", async () => {
    const chosen = await chooseEnds(answer.querySelector(".leaf-picture"));
    if (chosen) ask(await getFiles(answer), [["assume_type", records[0].type], ["ends", chosen]]);
  });
  crop.hidden = answer.querySelectorAll(".leaf-picture").length !== 1;
  crop.addEventListener("click", async () => {
    const [shown] = await readPictures(answer);
    const part = await cutOut(files.get(answer.id)?.[0], shown);
    if (!part) return;
    // Each of several leaves may be of another plant.
    if (records[0].n_leaves === 1) occurrences.set(makeKey(part), readAnswer(answer).occurrences[0]);
    ask([part], []);
  });
  const verdict = answer.querySelector(".verdict");
  if (!crop.hidden && verdict.dataset.remedy) {
    const remedy = crop.cloneNode(true);
    remedy.className = "remedy";
    remedy.addEventListener("click", () => crop.click());
    verdict.after(remedy);
  }
  (answer.querySelector(".together, .explained") ?? answer.querySelector("article").lastElementChild).after(box);
}

async function getFiles(answer) {
  if (!files.has(answer.id)) {
    const pictures = await readPictures(answer);
    const { records, occurrences: all } = readAnswer(answer);
    const shown = all.filter((_, index) => !records[index].problem);
    for (const [index, picture] of pictures.entries()) occurrences.set(makeKey(picture), shown[index]);
    files.set(answer.id, pictures);
  }
  return files.get(answer.id);
}

async function listSpecies() {
  if (species.children.length) return;
  const response = await fetch("/species").catch(() => ({ ok: false }));
  const listed = response.ok ? await response.json() : [];
  const options = listed.map(({ species: name, common_names }) => new Option(common_names.join(", "), name));
  species.replaceChildren(...options);
}

// Finds the species that a person calls by its name or a common one; "" where it isn't in the list.
function findSpecies(given) {
  const asked = given.toLowerCase();
  const isMeant = ({ value, text }) => [value, ...text.split(", ")].some((name) => name.toLowerCase() === asked);
  return asked && ([...species.children].find(isMeant)?.value ?? "");
}

together.addEventListener("click", async () => {
  const pictures = await Promise.all(getMarked().map(getFiles));
  ask(pictures.flat(), [["together", "1"]]);
  for (const box of rows.querySelectorAll("input")) box.checked = false;
  together.disabled = true;
});
function clear() {
  answers.replaceChildren();
  rows.replaceChildren();
  history.hidden = true;
  files.clear();
  occurrences.clear();
  for (const dialog of document.querySelectorAll("dialog[open]")) dialog.close();
}

document.getElementById("forget").addEventListener("click", () => {
  if (!confirm(translate("Delete all answers and notes in this browser?"))) return;
  clear();
  forgetNotes();
  forgetInAllTabs();
  store();
  say(translate("The answers are forgotten."));
});
onForgotten(() => {
  clear();
  say(translate("The answers were forgotten in another tab."));
});
for (const [id, write, name] of [
  ["export-csv", exportCsv, "leafid.csv"],
  ["export-json", exportJson, "leafid.json"],
]) {
  document.getElementById(id).addEventListener("click", () => download(name, write([...answers.children])));
}
