"use strict";
// Texts come into the page through textContent alone, and nothing here asks the network for anything.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const $ = (id) => document.getElementById(id);
  const { make, count } = beside;
  const render = (box, pair) => {
    const left = data.words.left + ": " + data.documents[pair.left].name;
    const right = (pair.kept ? data.words.also : data.words.right) + ": " + data.documents[pair.right].name;
    beside.render(box, [left, right], pair.compared, "This report has no texts.");
  };

  const named = (pair) => data.documents[pair.right].name + "  →  " + data.documents[pair.left].name;
  for (const node of document.querySelectorAll(".needs-script")) node.hidden = false;

  // Keys act on the section that is in view; of two, on the one with the focus, else on the one of which more is seen.
  const keys = {};
  const inView = () => {
    let found = "", most = 0;
    for (const id in keys) {
      const box = $(id).getBoundingClientRect(), seen = Math.min(box.bottom, innerHeight) - Math.max(box.top, 0);
      const share = seen / Math.min(box.height, innerHeight), weight = share + $(id).contains(document.activeElement);
      if (share > 0.5 && weight > most) [found, most] = [id, weight];
    }
    return found;
  };
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, select, textarea")) return;
    const act = keys[inView()]?.[event.key.toLowerCase()];
    if (!act) return;
    event.preventDefault();
    if (!event.repeat || "jk".includes(event.key)) act();
  });

  // Two documents side by side.
  const list = $("pairs");
  if (list) {
    const groups = new Map();
    data.pairs.forEach((pair, i) => {
      if (!groups.has(pair.section)) groups.set(pair.section, make("optgroup"));
      groups.get(pair.section).label = pair.section;
      const option = make("option", "", pair.score.toFixed(4) + "  " + named(pair));
      option.value = i;
      groups.get(pair.section).append(option);
    });
    list.append(...groups.values());
    const show = (step) => {
      const n = list.options.length;
      if (step) list.selectedIndex = (list.selectedIndex + step + n) % n;
      render($("view"), data.pairs[Number(list.value)]);
    };
    list.addEventListener("change", () => show(0));
    $("before").addEventListener("click", () => show(-1));
    $("after").addEventListener("click", () => show(1));
    keys.beside = { j: () => show(1), k: () => show(-1) };
    if (data.pairs.length) show(0);
  }

  // The sample to judge. Judgements stay in this browser, under the digest of what the page shows.
  const audit = data.pairs.filter((pair) => pair.audit);
  if (!audit.length) return;
  const judged = new Map(), place = "lookalike " + data.digest, buttons = [...$("judge").querySelectorAll("[data-verdict]")];
  const verdicts = buttons.map((button) => button.dataset.verdict);
  let at = 0, saved = true, stores = true;

  const remember = () => {
    try {
      if (judged.size) localStorage.setItem(place, JSON.stringify([...judged]));
      else localStorage.removeItem(place);
    } catch {
      stores = false;
    }
  };
  const recall = () => {
    let said = null;
    try {
      said = localStorage.getItem(place);
    } catch {
      stores = false;
    }
    try {
      for (const [i, verdict] of JSON.parse(said || "[]")) if (audit[i] && verdicts.includes(verdict)) judged.set(i, verdict);
    } catch {
      // somebody else wrote there: judging begins anew
    }
    at = Math.max(0, audit.findIndex((_, i) => !judged.has(i)));
  };

  const wilson = (yes, n) => {
    const z = 1.959964, p = yes / n, middle = p + z * z / (2 * n), width = z * Math.sqrt(p * (1 - p) / n + z * z / (4 * n * n));
    return [middle - width, middle + width].map((x) => Math.min(1, Math.max(0, x / (1 + z * z / n))));
  };
  const tell = () => {
    const [yes, no, unsure] = verdicts.map((verdict) => [...judged.values()].filter((x) => x === verdict).length);
    const n = yes + no;
    let said = "Judged " + count(judged.size) + " of " + count(audit.length) + ": " + yes + " " + data.words.yes.toLowerCase();
    said += ", " + no + " " + data.words.no.toLowerCase() + ", " + unsure + " unsure.";
    if (n) {
      const [low, high] = wilson(yes, n);
      said += " Precision " + (yes / n).toFixed(3) + " (95% interval " + low.toFixed(3) + " to " + high.toFixed(3) + "; unsure ones left out).";
    }
    $("precision").textContent = said;
    $("export").disabled = !no;
    $("clear").disabled = !judged.size;
    const lost = "This browser does not store judgements: " + (data.words.export ? "export them before you leave the page." : "they are lost when you leave the page.");
    $("stored").textContent = stores ? "Judgements stay in this browser, also when the page is loaded again; they are sent nowhere." : lost;
  };
  const show = () => {
    const pair = audit[at];
    $("audit-place").textContent = at + 1 + " of " + audit.length + ", " + data.score + " " + pair.score.toFixed(4);
    for (const button of buttons) button.setAttribute("aria-pressed", String(judged.get(at) === button.dataset.verdict));
    render($("audit-view"), pair);
    tell();
  };
  const go = (step) => {
    at = Math.min(audit.length - 1, Math.max(0, at + step));
    show();
  };
  const judge = (verdict) => {
    if (judged.get(at) === verdict) judged.delete(at);
    else judged.set(at, verdict);
    saved = false;
    remember();
    if (judged.has(at) && at < audit.length - 1) go(1);
    else show();
  };

  for (const button of buttons) button.addEventListener("click", () => judge(button.dataset.verdict));
  $("audit-before").addEventListener("click", () => go(-1));
  $("audit-after").addEventListener("click", () => go(1));
  keys.audit = {
    [data.words.yes_key]: () => judge("duplicate"), n: () => judge("keep"), u: () => judge("unsure"), j: () => go(1), k: () => go(-1),
  };
  $("clear").addEventListener("click", () => {
    if (!confirm("Clear all " + count(judged.size) + " judgements?")) return;
    judged.clear();
    remember();
    at = 0;
    show();
  });
  $("export").addEventListener("click", () => {
    let lines = "";
    for (const [i, verdict] of judged) {
      const removed = data.documents[audit[i].right], source = data.sources[removed.source] || {};
      if (verdict !== "keep" || removed.id === null) continue;
      lines += JSON.stringify({ id: removed.id, action: "keep", input: source.name, sha256: source.digest }) + "\n";
    }
    const link = make("a");
    link.href = URL.createObjectURL(new Blob([lines], { type: "application/jsonl" }));
    link.download = "overrides.jsonl";
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
    saved = true;
  });
  window.addEventListener("beforeunload", (event) => {
    if (!saved && !stores) event.preventDefault();
  });
  recall();
  show();
})();
