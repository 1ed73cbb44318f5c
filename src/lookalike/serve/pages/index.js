"use strict";
// The neighbours of a text, and how it differs from them.
(() => {
  const { $, json, attempt } = desk, { make, count } = beside;
  let turn = 0, score = "resemblance", most = 1 << 20; // bytes of a text that the service takes

  const scoreOf = (match) => {
    if (match.resemblance !== null) return [match.resemblance.toFixed(4), "exact " + score];
    return [match.estimate.toFixed(3), "estimated " + score + "; 95% interval " + match.low.toFixed(3) + " to " + match.high.toFixed(3)];
  };

  const entry = (match, text, open) => {
    const item = make("li"), [value, what] = scoreOf(match);
    const said = [make("span", "score", value), make("bdi", "mono", match.name), make("span", "soft", what)];
    if (match.begins) said.splice(2, 0, " ", make("bdi", "begins", "“" + match.begins + "”"));
    if (!match.has_text) {
      item.className = "pair";
      const head = make("div", "head");
      head.append(...said);
      item.append(head);
      return item;
    }
    const box = make("details", "pair"), summary = make("summary"), view = make("div", "view");
    view.tabIndex = 0;
    summary.append(...said);
    box.append(summary, view);
    item.append(box);
    let asked = false;
    box.addEventListener("toggle", async () => {
      if (!box.open || asked) return;
      asked = true;
      view.textContent = "Comparing…";
      const found = await attempt(() => json("/v1/beside", { text, id: match.id }));
      if (found) beside.render(view, ["in the index: " + match.name, "your text"], found.compared, found.why);
      else asked = box.open = false;
    });
    box.open = open;
    return item;
  };

  const tooLarge = (what, size) => "The " + what + " has " + count(size) + " bytes; the service takes at most " + count(most) + ".";

  const find = async () => {
    const text = $("text").value, mine = ++turn;
    if (!text.trim()) return desk.tell("Paste a text first.");
    const size = new Blob([text]).size;
    if (size > most) return desk.tell(tooLarge("text", size));
    $("result").textContent = "Searching…";
    const found = await attempt(() => json("/v1/neighbours", { text, top: 10 }));
    if (mine !== turn) return;
    $("found").textContent = "";
    if (!found) {
      $("result").textContent = "";
      return;
    }
    const n = found.results.length;
    $("result").textContent = n ? (n === 1 ? "1 document found." : n + " documents found, the most similar first.") : "No document in the index reaches a " + score + " of " + found.threshold + ".";
    $("legend").hidden = !found.results.some((match) => match.has_text);
    $("found").append(...found.results.map((match, i) => entry(match, text, i === 0)));
  };

  $("ask").addEventListener("submit", (event) => {
    event.preventDefault();
    find();
  });
  $("text").addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) find();
  });
  $("file").addEventListener("change", () => attempt(async () => {
    const file = $("file").files[0];
    if (!file) return;
    if (file.size > most) throw new Error(tooLarge("file", file.size));
    try {
      $("text").value = new TextDecoder("utf-8", { fatal: true }).decode(await file.arrayBuffer());
    } catch {
      throw new Error("The file is not text in UTF-8.");
    }
    await find();
  }));

  attempt(async () => {
    const about = await json("/v1/about");
    $("said").textContent = about.said;
    most = about.most_bytes;
    score = about.score;
    $("texts").hidden = about.keeps_texts;
    $("texts").textContent = "This index keeps no texts: scores are estimates, and how documents differ cannot be shown.";
    $("made").textContent = "lookalike " + about.version;
  });
})();
