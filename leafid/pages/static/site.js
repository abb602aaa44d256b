"use strict";
// Sends pictures one by one (or together, of one tree), shows the answers above earlier ones, and lists them. Without
// this script, the form answers with a page of its own. The browser keeps the newest answers until the tab is closed.

const form = document.getElementById("upload");
const status = document.getElementById("status");
const progress = document.getElementById("progress");
const history_ = document.getElementById("history");
const answers = document.getElementById("answers");
const inputs = [...form.querySelectorAll("input[type=file]")];
// Browsers store some millions of characters, and an answer has some hundred thousand.
const MOST_STORED = 50;
let queue = Promise.resolve();

document.documentElement.classList.add("scripted");
form.querySelector(".drop-hint").hidden = false;

function say(text, isProblem = false) {
  status.textContent = text;
  status.classList.toggle("wrong", isProblem);
  if (isProblem) status.scrollIntoView({ block: "nearest" });
}

function read(html) {
  const holder = document.createElement("template");
  holder.innerHTML = html;
  return [...holder.content.querySelectorAll(".answer")];
}

// Stores as many of the newest answers as the browser has space for, so that they are here when a person comes back.
function store() {
  const kept = [...answers.children].slice(0, MOST_STORED).map((answer) => answer.outerHTML);
  do {
    try {
      sessionStorage.setItem("leafid", kept.join(""));
      return;
    } catch {
      kept.pop();
    }
  } while (kept.length);
}

function restore() {
  try {
    show(read(sessionStorage.getItem("leafid") ?? ""));
  } catch {
    // The browser stores nothing.
  }
}

async function explain(files, options) {
  const body = new FormData();
  for (const [name, value] of options) body.append(name, value);
  for (const file of files) body.append("pictures", file);
  const response = await fetch("/explain", { method: "POST", body, cache: "no-store" });
  if (!response.ok) throw new Error((await response.json()).problem);
  return read(await response.text());
}

function show(newest) {
  answers.prepend(...newest);
  for (const answer of [...newest].reverse()) {
    const link = document.createElement("a");
    link.href = `#${answer.id}`;
    link.textContent = answer.dataset.summary;
    const item = document.createElement("li");
    item.append(link);
    history_.querySelector("ol").prepend(item);
  }
  history_.hidden = !answers.children.length;
}

function visit(answer) {
  const title = answer.querySelector("h2");
  title.tabIndex = -1;
  title.focus({ preventScroll: true });
  answer.scrollIntoView();
}

async function identify(files, options) {
  const isTogether = options.some(([name]) => name === "together");
  const groups = isTogether ? [files] : files.map((file) => [file]);
  const problems = [];
  progress.hidden = false;
  progress.max = groups.length;
  for (const [index, group] of groups.entries()) {
    if (groups.length > 1) progress.value = index;
    else progress.removeAttribute("value");
    say(groups.length > 1 ? `Identifying picture ${index + 1} of ${groups.length} …` : "Identifying …");
    try {
      const newest = await explain(group, options);
      show(newest);
      store();
      visit(newest[0]);
    } catch (error) {
      problems.push(`${group.map((file) => file.name).join(", ")}: ${error.message}`);
    }
  }
  progress.hidden = true;
  if (problems.length) say(problems.join("; "), true);
  else say(answers.querySelector(".answer").dataset.summary);
}

function accept(list) {
  const files = [...list];
  if (!files.length) return;
  const limit = Number(form.dataset.limit);
  const options = [...new FormData(form)].filter(([name, value]) => name !== "pictures" && value);
  if (options.some(([name]) => name === "together") && files.length > limit) {
    say(`At most ${limit} pictures of one tree.`, true);
    return;
  }
  queue = queue.then(() => identify(files, options));
}

for (const input of inputs) {
  input.addEventListener("change", () => {
    accept(input.files);
    input.value = "";
  });
}
document.addEventListener("paste", (event) => accept(event.clipboardData.files));
document.addEventListener("dragover", (event) => {
  event.preventDefault();
  document.body.classList.add("dropping");
});
document.addEventListener("dragleave", (event) => {
  if (!event.relatedTarget) document.body.classList.remove("dropping");
});
document.addEventListener("drop", (event) => {
  event.preventDefault();
  document.body.classList.remove("dropping");
  accept(event.dataTransfer.files);
});
form.addEventListener("submit", (event) => event.preventDefault());
history_.querySelector("button").addEventListener("click", () => {
  answers.replaceChildren();
  history_.querySelector("ol").replaceChildren();
  history_.hidden = true;
  store();
  say("The answers are forgotten.");
});
restore();
