// Keeps what a person says about answers ("this is right", "it is …", a remark) in the browser, with the records of the
// answers, so that they can still be exported when the tab was closed.
const KEY = "leafid-notes";

export function readNotes() {
  try {
    return JSON.parse(localStorage.getItem(KEY)) ?? {};
  } catch {
    return {};
  }
}

// `species` is the name in the list of species that a person's name stands for, if any.
export function readNote(id) {
  return { isRight: false, name: "", species: "", remark: "", ...readNotes()[id] };
}

// Reads what is exported of an answer on the page.
export function readAnswer({ id, dataset: { records, dates = "[]", answered = "", occurrences } }) {
  const answers = JSON.parse(records);
  return {
    records: answers,
    dates: JSON.parse(dates),
    answered,
    // Those of the answers that the server put on the page.
    occurrences: occurrences ? JSON.parse(occurrences) : answers.map((_, index) => `${id}-${index + 1}`),
  };
}

export function writeNote(answer, change) {
  const note = { ...readNote(answer.id), ...change, ...readAnswer(answer) };
  const { [answer.id]: _, ...others } = readNotes();
  const isEmpty = !note.isRight && !note.name && !note.remark;
  try {
    localStorage.setItem(KEY, JSON.stringify(isEmpty ? others : { ...others, [answer.id]: note }));
  } catch {
    // The browser stores nothing: the note is lost with the page.
  }
  return note;
}

export function forgetNotes() {
  try {
    localStorage.removeItem(KEY);
  } catch {
    // The browser stores nothing.
  }
}
