// Writes answers, with what a person says about them, as CSV with the terms of Darwin Core, or as JSON.
import { readAnswer, readNotes } from "./notes.js";

const COLUMNS = [
  ...["occurrenceID", "organismID", "basisOfRecord", "eventDate", "recordedBy", "scientificName", "taxonRank"],
  ...["acceptedNameUsage", "vernacularName", "identifiedBy", "dateIdentified", "identificationVerificationStatus"],
  ...["verbatimIdentification", "previousIdentifications", "identificationRemarks", "associatedMedia"],
];

// Lists the pictures of the answers on the page, and of earlier ones that a person noted something about.
function listPictures(answers) {
  const notes = readNotes();
  const shown = answers.map((answer) => [answer.id, { ...notes[answer.id], ...readAnswer(answer) }]);
  const all = Object.entries({ ...notes, ...Object.fromEntries(shown) });
  return all.flatMap(([id, { records, dates, answered, isRight = false, name = "", species = "", remark = "" }]) =>
    records.map((answer, index) => ({
      id: records.length > 1 ? `${id}-${index + 1}` : id,
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

export function exportCsv(answers) {
  const rows = listPictures(answers).map(({ id, plant, date, answered, answer, judgement }) => {
    const given = judgement.name ? judgement.species : (answer.name ?? "");
    const isJudged = judgement.is_right || Boolean(judgement.name);
    const named = answer.ranking.find(({ species }) => species === given);
    const percent = answer.answer_probability === null ? "" : ` ${(100 * answer.answer_probability).toFixed(1)}%`;
    const remarks = [`leafid: ${answer.name ?? answer.verdict}${percent}`, ...answer.reasons, judgement.remark];
    return {
      occurrenceID: id,
      organismID: plant,
      basisOfRecord: "HumanObservation",
      eventDate: date,
      scientificName: given,
      taxonRank: given && (named || judgement.name ? "species" : answer.verdict),
      acceptedNameUsage: named?.accepted ?? "",
      vernacularName: named?.common_names[0] ?? "",
      identifiedBy: judgement.name ? "" : "leafid",
      dateIdentified: answered,
      identificationVerificationStatus: isJudged ? "verified" : "",
      verbatimIdentification: judgement.name,
      previousIdentifications: isJudged ? (answer.name ?? answer.verdict) : "",
      identificationRemarks: remarks.filter(Boolean).join("; "),
      associatedMedia: answer.picture,
    };
  });
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
