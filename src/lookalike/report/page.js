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
    if (data.pairs.length) show(0);
  }

  // The sample to judge.
  const judged = new Map();
  let at = 0, saved = true;
  const audit = data.pairs.filter((pair) => pair.audit);
  const wilson = (yes, n) => {
    const z = 1.959964, p = yes / n, middle = p + z * z / (2 * n), width = z * Math.sqrt(p * (1 - p) / n + z * z / (4 * n * n));
    return [middle - width, middle + width].map((x) => Math.min(1, Math.max(0, x / (1 + z * z / n))));
  };
  const tell = () => {
    const all = [...judged.values()], yes = all.filter((x) => x === "yes").length, no = all.filter((x) => x === "no").length;
    const unsure = all.length - yes - no, n = yes + no;
    let said = count(all.length) + " of " + count(audit.length) + " judged: " + yes + " yes, " + no + " no, " + unsure + " unsure.";
    if (n) {
      const [low, high] = wilson(yes, n);
      said += " Precision " + (yes / n).toFixed(3) + " (95% interval " + low.toFixed(3) + " to " + high.toFixed(3) + "; unsure ones left out).";
    }
    $("precision").textContent = said;
    $("export").disabled = !no;
  };
  const showAudit = () => {
    const pair = audit[at];
    $("audit-place").textContent = at + 1 + " of " + audit.length + ", resemblance " + pair.score.toFixed(4);
    for (const button of $("judge").querySelectorAll("[data-verdict]")) {
      button.setAttribute("aria-pressed", String(judged.get(at) === button.dataset.verdict));
    }
    render($("audit-view"), pair);
    tell();
  };
  const go = (step) => {
    at = Math.min(audit.length - 1, Math.max(0, at + step));
    showAudit();
  };
  const judge = (verdict) => {
    if (judged.get(at) === verdict) judged.delete(at);
    else judged.set(at, verdict);
    saved = false;
    if (judged.has(at) && at < audit.length - 1) go(1);
    else showAudit();
  };
  if (audit.length) {
    for (const button of $("judge").querySelectorAll("[data-verdict]")) button.addEventListener("click", () => judge(button.dataset.verdict));
    $("audit-before").addEventListener("click", () => go(-1));
    $("audit-after").addEventListener("click", () => go(1));
    document.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || !$("audit").contains(document.activeElement)) return;
      const key = event.key.toLowerCase();
      if (key === "y" || key === "n" || key === "u") judge({ y: "yes", n: "no", u: "unsure" }[key]);
      else if (key === "j") go(1);
      else if (key === "k") go(-1);
      else return;
      event.preventDefault();
    });
    $("export").addEventListener("click", () => {
      let lines = "";
      for (const [i, verdict] of judged) {
        const removed = data.documents[audit[i].right], source = data.sources[removed.source] || {};
        if (verdict !== "no" || removed.id === null) continue;
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
      if (!saved) event.preventDefault();
    });
    showAudit();
  }
})();
