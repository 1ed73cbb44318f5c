"use strict";
// Removals in pages of 50, the pair that is looked at, and what is judged of it.
(() => {
  const { $, json, attempt } = desk, { make, count } = beside;
  const PAGE = 50, CHOICES = ["order", "kind", "judged", "source", "find"];
  const NAMES = { duplicate: "duplicate", keep: "not a duplicate", unsure: "unsure" };
  let rows = [], at = -1, begin = 0, total = 0, shown = null, turn = 0, score = "resemblance";

  const showProgress = (p) => {
    $("bar").max = Math.max(1, p.of);
    $("bar").value = p.judged;
    let said = "Judged " + count(p.judged) + " of " + count(p.of) + " near-duplicates: " + p.duplicate + " duplicate, " + p.keep + " not a duplicate, " + p.unsure + " unsure.";
    if (p.copies) said += " Exact copies judged: " + count(p.copies) + ".";
    if (p.precision !== undefined) {
      said += " Precision " + p.precision.toFixed(3) + " (95% interval " + p.low.toFixed(3) + " to " + p.high.toFixed(3) + "): of the first " + count(p.drawn) + " in random order, unsure ones left out.";
    } else if (p.judged) said += " To measure the precision, judge the first ones in random order.";
    $("progress").textContent = said;
  };

  const mark = (row) => {
    if (row.judgement) return make("span", "mark " + row.judgement, NAMES[row.judgement]);
    return row.note ? make("span", "mark noted", "note") : make("span");
  };

  const showRows = () => {
    $("rows").textContent = "";
    rows.forEach((row, i) => {
      const item = make("li"), button = make("button"), names = make("span");
      button.type = "button";
      names.append(make("bdi", "id", row.name), make("bdi", "", "kept: " + row.kept));
      button.append(make("span", "score", row.reason === "exact" ? "exact" : row.score.toFixed(4)), names, mark(row));
      button.addEventListener("click", () => open(i));
      item.append(button);
      $("rows").append(item);
    });
    const end = begin + rows.length;
    $("place").textContent = total ? count(begin + 1) + " to " + count(end) + " of " + count(total) : "None.";
    $("page-before").disabled = begin === 0;
    $("page-after").disabled = end >= total;
  };

  const showCurrent = () => {
    [...$("rows").children].forEach((item, i) => {
      if (i === at) item.firstChild.setAttribute("aria-current", "true");
      else item.firstChild.removeAttribute("aria-current");
    });
    const box = $("rows"), item = box.children[at];
    if (!item) return;
    const end = item.offsetTop + item.offsetHeight; // only the list is scrolled, not the page
    if (item.offsetTop < box.scrollTop) box.scrollTop = item.offsetTop;
    else if (end > box.scrollTop + box.clientHeight) box.scrollTop = end - box.clientHeight;
  };

  const showJudgement = () => {
    for (const button of document.querySelectorAll("[data-judgement]")) {
      button.setAttribute("aria-pressed", String(Boolean(shown) && shown.judgement === button.dataset.judgement));
      button.disabled = !shown;
    }
    $("note").value = shown ? shown.note : "";
    $("note").disabled = !shown;
    $("together").hidden = !shown || shown.copies < 2;
    if (shown) $("n-copies").textContent = "All " + count(shown.copies) + " copies at once";
  };

  const showPair = (pair) => {
    shown = pair;
    showJudgement();
    $("view").removeAttribute("aria-busy");
    if (!pair) {
      $("about").textContent = "No removal is chosen.";
      $("view").textContent = "";
      return;
    }
    const alike = pair.reason === "exact" ? "an exact duplicate" : score + " " + pair.score.toFixed(4);
    $("about").textContent = alike + ". Kept: " + pair.left_file + ", " + count(pair.left_bytes) + " bytes. Removed: " + pair.file + ", " + count(pair.bytes) + " bytes.";
    beside.render($("view"), ["kept: " + pair.left_name, "removed: " + pair.name], pair.compared, "The texts cannot be shown: " + pair.why);
  };

  // How the texts of this page begin is known once the first ones are read.
  const showBegins = (begins) => {
    rows.forEach((row, i) => {
      const begun = begins[row.row];
      const names = $("rows").children[i].querySelector("button > span + span");
      if (begun && names.childElementCount === 2) names.prepend(make("bdi", "begins", begun));
    });
  };

  // Show a removal; the texts of the others on this page are read with it.
  const load = async (row) => {
    const mine = ++turn;
    shown = null; // what is not shown yet cannot be judged
    showJudgement();
    $("view").setAttribute("aria-busy", "true");
    $("about").textContent = "Reading the texts…";
    const near = rows.map((other) => other.row).filter((other) => other !== row).join(",");
    const pair = await attempt(() => json("/v1/removals/" + row + "?beside=" + near));
    if (mine !== turn) return;
    showBegins(pair?.begins || {});
    showPair(pair || null);
  };

  const open = async (i) => {
    at = i;
    showCurrent();
    if (rows[i]) await load(rows[i].row);
    else showPair(null);
  };

  const asked = (from) => {
    const parameters = new URLSearchParams({ begin: from, n: PAGE });
    for (const name of CHOICES) if ($(name).value) parameters.set(name, $(name).value);
    return "/v1/removals?" + parameters;
  };
  const list = async (from, last) => {
    const mine = ++turn, before = begin;
    begin = from; // at once, so that a second click goes a page further
    const found = await attempt(() => json(asked(from)));
    if (mine !== turn) return;
    if (!found) {
      begin = before;
      return;
    }
    ({ rows, begin, total } = found);
    if (!rows.length && total) return list(Math.max(0, PAGE * Math.floor((total - 1) / PAGE)), true);
    showRows();
    await open(rows.length ? (last ? rows.length - 1 : 0) : -1);
  };

  // Those of this page that a choice by judgement no longer has are not counted: the next page begins that much earlier.
  const after = () => {
    const wanted = $("judged").value;
    return begin + rows.filter((row) => wanted === "any" || (row.judgement || "none") === wanted).length;
  };
  const step = async (by) => {
    if (at + by >= 0 && at + by < rows.length) return open(at + by);
    if (by > 0 && begin + rows.length < total) return list(after());
    if (by < 0 && begin > 0) return list(Math.max(0, begin - PAGE), true);
    return undefined;
  };

  // Whether a removal is judged with the one that is shown: both are copies of the same document.
  const isCopy = (row) => row.reason === "exact" && shown?.reason === "exact" && row.keeper === shown.keeper;
  const noted = (row, judgement, note, copies) => {
    rows.forEach((other, i) => {
      if (other.row !== row && !(copies && isCopy(other))) return;
      Object.assign(other, { judgement, note });
      $("rows").children[i].firstChild.lastChild.replaceWith(mark(other));
    });
    if (shown && shown.row === row) {
      Object.assign(shown, { judgement, note });
      showJudgement();
    }
  };

  let saving = Promise.resolve(); // one after the other, in the order in which they were made
  const save = (row, judgement, note, copies = false) => {
    const body = { row, judgement, note, copies };
    saving = saving.then(() => attempt(async () => {
      const said = await json("/v1/judgements", body);
      showProgress(said.progress);
      noted(row, judgement, note, copies);
      return true;
    }));
    return saving;
  };

  let judging = false;
  const judge = async (judgement) => {
    if (!shown || judging) return;
    const same = shown.judgement === judgement, copies = shown.copies > 1 && $("copies").checked;
    judging = true;
    const saved = await save(shown.row, same ? null : judgement, $("note").value, copies);
    judging = false;
    if (!saved || same) return;
    while (copies && at + 1 < rows.length && isCopy(rows[at + 1])) at += 1;
    await step(1);
  };

  const undo = async () => {
    saving = saving.then(() => attempt(() => json("/v1/undo", {}))); // what is still being saved is what it takes back
    const said = await saving;
    if (!said) return;
    showProgress(said.progress);
    if (said.row === null) return desk.tell("There is nothing to undo.");
    if (said.rows > 1) {
      const found = await attempt(() => json(asked(begin)));
      if (found) rows = found.rows;
      showRows();
    }
    const i = rows.findIndex((row) => row.row === said.row);
    if (i >= 0) {
      at = i;
      showCurrent();
    }
    await load(said.row);
    if (shown && shown.row === said.row) noted(said.row, shown.judgement, shown.note);
  };

  const saveNote = async () => {
    if (shown && $("note").value !== shown.note) await save(shown.row, shown.judgement, $("note").value);
  };

  for (const button of document.querySelectorAll("[data-judgement]")) button.addEventListener("click", () => judge(button.dataset.judgement));
  $("undo").addEventListener("click", undo);
  $("page-before").addEventListener("click", () => list(Math.max(0, begin - PAGE)));
  $("page-after").addEventListener("click", () => list(after()));
  for (const name of CHOICES) $(name).addEventListener("change", () => list(0));
  $("note").addEventListener("change", saveNote);
  $("note").addEventListener("keydown", (event) => {
    if (event.key === "Enter" || event.key === "Escape") {
      if (event.key === "Escape") $("note").value = shown.note;
      $("pair").focus();
    }
  });
  const showKeys = () => $("keys").showModal(); // Escape closes it, and the focus returns
  $("keys-button").addEventListener("click", showKeys);
  $("keys-close").addEventListener("click", () => $("keys").close());

  const actions = {
    j: () => step(1), k: () => step(-1), d: () => judge("duplicate"), n: () => judge("keep"), u: () => judge("unsure"), z: undo,
    w: () => $("note").focus(), "/": () => $("find").focus(), "?": showKeys,
    ",": () => $("page-before").click(), ".": () => $("page-after").click(),
  };
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input:not(#copies), select, textarea, dialog")) return;
    const action = actions[event.key.toLowerCase()];
    if (!action) return;
    event.preventDefault();
    if (!event.repeat || "jk".includes(event.key)) action();
  });

  // With a key a link would be refused, so the report, which is one file, is saved.
  $("report").addEventListener("click", async (event) => {
    if (!desk.hasKey()) return;
    event.preventDefault();
    await attempt(async () => {
      const link = make("a");
      link.href = URL.createObjectURL(await (await desk.ask("/v1/report")).blob());
      link.download = "report.html";
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 10000);
    });
  });

  showJudgement();
  attempt(async () => {
    const about = await json("/v1/job");
    $("folder").textContent = about.folder;
    $("said").textContent = about.said;
    $("made").textContent = "lookalike " + about.version + ". Judgements are saved in the folder: review.jsonl has all of them, overrides.jsonl the documents to keep.";
    score = about.score;
    for (const of of about.sources) {
      const option = make("option", "", of.name + " (" + count(of.removed) + ")");
      option.value = of.source;
      $("source").append(option);
    }
    showProgress(about.progress);
    if (!about.progress.of) $("kind").value = "all";
    await list(0);
  });
})();
