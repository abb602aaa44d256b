// Links the plates of the field guide to the answers of this session.
import { catchUp, onForgotten } from "./memory.js";
import { translate } from "./words.js";

function linkAnswers() {
  catchUp();
  const holder = document.createElement("template");
  try {
    holder.innerHTML = sessionStorage.getItem("leafid") ?? "";
  } catch {
    // The browser stores nothing.
  }
  for (const answer of holder.content.querySelectorAll(".answer")) {
    const records = JSON.parse(answer.dataset.records);
    const plate = document.getElementById((records[0].name ?? "").replaceAll(" ", "-"))?.closest(".plate");
    if (!plate) continue;
    const link = document.createElement("a");
    link.href = `/#${answer.id}`;
    const names = records.map(({ picture }) => picture).join(", ");
    link.textContent = translate("Your picture: {names}", { names });
    const line = document.createElement("p");
    line.className = "yours";
    line.append(link);
    plate.append(line);
  }
}

linkAnswers();
onForgotten(() => {
  for (const line of document.querySelectorAll(".yours")) line.remove();
});
