// Sends pictures one by one (or together, of one tree), and says how far it is. Without JavaScript, the form answers
// with another page.
import { restore, show, store, take, visit } from "./answers.js";
import { readAnswer } from "./notes.js";
import { readDate } from "./pictures.js";
import { translate } from "./words.js";

const form = document.getElementById("upload");
const status = document.getElementById("status");
const progress = document.getElementById("progress");
const cancel = document.getElementById("cancel");
let queue = Promise.resolve();
let stop = new AbortController();

document.documentElement.classList.add("scripted");
form.querySelector(".drop-hint").hidden = false;

function say(text, isProblem = false) {
  status.textContent = text;
  status.classList.toggle("wrong", isProblem);
  if (isProblem) status.scrollIntoView({ block: "nearest" });
}

async function explain(files, options, signal) {
  const body = new FormData();
  for (const [name, value] of options) body.append(name, value);
  for (const file of files) body.append("pictures", file);
  const response = await fetch("/explain", { method: "POST", body, cache: "no-store", signal }).catch((error) => {
    if (signal.aborted) throw error;
    throw new Error(translate("leafid doesn’t answer. Is it still running, and are you in the same network?"));
  });
  if (!response.ok) throw new Error((await response.json()).problem);
  return take(await response.text(), files, await Promise.all(files.map(readDate)));
}

async function identify(files, options, signal) {
  const isTogether = options.some(([name]) => name === "together");
  const groups = isTogether ? [files] : files.map((file) => [file]);
  const problems = [];
  const records = [];
  let last;
  progress.hidden = false;
  cancel.hidden = false;
  progress.max = groups.length;
  for (const [index, group] of groups.entries()) {
    if (groups.length > 1) progress.value = index;
    else progress.removeAttribute("value");
    const step = translate("Identifying picture {number} of {all} …", { number: index + 1, all: groups.length });
    say(groups.length > 1 ? step : translate("Identifying …"));
    try {
      [last] = await explain(group, options, signal);
      records.push(...readAnswer(last).records);
      show([last]);
      store();
    } catch (error) {
      if (signal.aborted) break;
      problems.push(`${group.map((file) => file.name).join(", ")}: ${error.message}`);
    }
  }
  progress.hidden = true;
  cancel.hidden = true;
  if (last) visit(last, groups.length > 1);
  const summary = last ? [summarise(records, groups.length > 1 ? "" : last.dataset.summary)] : [];
  if (problems.length) say([...summary, ...problems].join("; "), true);
  else if (signal.aborted) say(translate("Cancelled; what was answered is in the table."));
  else say(`${summary}.`);
}

// Says how many pictures are answered, or else the one answer, and how many of several could not be read.
function summarise(records, answer) {
  const nUnreadable = records.filter(({ problem }) => problem).length;
  const nAnswered = records.length - nUnreadable;
  const number = nAnswered;
  const several = number === 1 ? translate("1 picture is answered") : translate("{number} pictures are answered", { number });
  const head = answer || several;
  return nUnreadable && records.length > 1 ? `${head}; ${translate("{number} could not be read", { number: nUnreadable })}` : head;
}

function ask(files, options) {
  const limit = Number(form.dataset.limit);
  if (options.some(([name]) => name === "together") && files.length > limit) {
    say(translate("At most {limit} pictures of one tree.", { limit }), true);
    return;
  }
  const { signal } = stop;
  queue = queue.then(() => (signal.aborted ? undefined : identify(files, options, signal)));
}

function accept(list) {
  const files = [...list];
  if (files.length) ask(files, [...new FormData(form)].filter(([name, value]) => name !== "pictures" && value));
}

cancel.addEventListener("click", () => {
  stop.abort();
  stop = new AbortController();
});
for (const input of form.querySelectorAll("input[type=file]")) {
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
restore(ask, say);
