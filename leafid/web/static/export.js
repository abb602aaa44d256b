// Writes answers, with what a person says about them, as CSV with the terms of Darwin Core, or as JSON.
import { readAnswer, readNotes } from "./notes.js";
import { formatPercent, translate } from "./words.js";

const COLUMNS = [
  ...["occurrenceID", "organismID", "basisOfRecord", "eventDate", "recordedBy", "scientificName", "taxonRank"],
  ...["identificationQualifier", "acceptedNameUsage", "vernacularName", "identifiedBy", "dateIdentified"],
  ...["identificationVerificationStatus", "verbatimIdentification", "previousIdentifications"],
  ...["identificationRemarks", "associatedMedia"],
];

// Lists what is known of each answer to a picture, on the page and of earlier ones that a person noted something about.
function listPictures(answers) {
  const notes = readNotes();
  const shown = answers.map((answer) => [answer.id, { ...notes[answer.id], ...readAnswer(answer) }]);
  const all = Object.entries({ ...notes, ...Object.fromEntries(shown) });
  return all.flatMap(([id, { records, occurrences, dates, answered, isRight = false, name = "", species = "", remark = "" }]) =>
    records.map((answer, index) => ({
      id: records.length > 1 ? `${id}-${index + 1}` : id,
      occurrence: occurrences?.[index] ?? `${id}-${index + 1}`,
      plant: records.length > 1 ? id : "",
      date: dates[index] ?? "",
      answered,
      answer,
      judgement: { is_right: isRight, name, species, remark },
    })),
  );
}

export function exportJson(answers) {
  return JSON.stringify(listPictures(answers), null, 1);
}

const isJudged = ({ judgement }) => judgement.is_right || Boolean(judgement.name);
const nameAnswer = ({ answer }) => answer.name ?? answer.verdict;
const joinDistinct = (texts, separator) => [...new Set(texts.filter(Boolean))].join(separator);

// Groups the answers to each picture: those that a person judged first, and then the newest.
function groupPictures(answers) {
  const groups = new Map();
  for (const picture of listPictures(answers)) {
    // A file that can't be read is no observation.
    if (picture.answer.verdict === "unreadable") continue;
    groups.set(picture.occurrence, [...(groups.get(picture.occurrence) ?? []), picture]);
  }
  const order = (a, b) => isJudged(b) - isJudged(a) || (a.answered < b.answered ? 1 : -1);
  return [...groups.values()].map((pictures) => pictures.sort(order));
}

// Says what leafid answered, and how probable that is; where it named nothing, the probability that it goes by.
function describeAnswer({ name, verdict, answer_probability, leaf, known }) {
  const text = `leafid: ${name ?? verdict}`;
  if (name) return `${text} ${formatPercent(answer_probability)}`;
  if (leaf === null) return text;
  if (verdict !== "no-leaf") return `${text}, ${translate("probability of a known species {share}", { share: formatPercent(known) })}`;
  return `${text}, ${translate("probability of a leaf {share}", { share: formatPercent(leaf) })}`;
}

function makeRow(pictures) {
  const [best, ...others] = pictures;
  const { answer, judgement } = best;
  const given = judgement.name ? judgement.species : (answer.name ?? "");
  const named = answer.ranking.find(({ species }) => species === given);
  const isGuess = !isJudged(best) && answer.verdict === "uncertain";
  const previous = (isJudged(best) ? pictures : others).map(nameAnswer);
  const remarks = [describeAnswer(answer), ...answer.reasons, ...pictures.map((picture) => picture.judgement.remark)];
  const status = isJudged(best) ? "verified" : "unverified";
  const first = pictures.reduce((a, b) => (a.answered <= b.answered ? a : b));
  return {
    occurrenceID: best.occurrence,
    organismID: pictures.map(({ plant }) => plant).find(Boolean),
    basisOfRecord: "HumanObservation",
    eventDate: pictures.map(({ date }) => date).find(Boolean),
    scientificName: given,
    taxonRank: given && (named || judgement.name ? "species" : answer.verdict),
    identificationQualifier: isGuess ? `cf. ${given.replace(/^\S+ /, "")}` : "",
    acceptedNameUsage: named?.accepted_name,
    vernacularName: named?.common_names[0],
    identifiedBy: judgement.name ? "" : "leafid",
    dateIdentified: best.answered,
    identificationVerificationStatus: given || isJudged(best) ? status : "",
    verbatimIdentification: judgement.name,
    previousIdentifications: joinDistinct(previous, " | "),
    identificationRemarks: joinDistinct(remarks, "; "),
    associatedMedia: first.answer.picture,
  };
}

export function exportCsv(answers) {
  const rows = groupPictures(answers).map(makeRow);
  // A spreadsheet would compute what begins like a formula.
  const guard = (value) => (/^[=+@\t\r-]/.test(value) ? `'${value}` : value);
  const quote = (value) => (/[",\n\r]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value);
  const lines = rows.map((row) => COLUMNS.map((column) => quote(guard(row[column] ?? ""))).join(","));
  return [COLUMNS.join(","), ...lines, ""].join("\r\n");
}

export function download(name, text) {
  const link = document.createElement("a");
  // By the mark at its beginning, spreadsheets know UTF-8.
  link.href = URL.createObjectURL(new Blob([name.endsWith(".csv") ? `\ufeff${text}` : text]));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}
