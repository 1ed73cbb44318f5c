"use strict";
// Two documents side by side, for the report and for the pages of the service. Texts come into a page through textContent alone.
const beside = (() => {
  const make = (name, kind, text) => {
    const node = document.createElement(name);
    if (kind) node.className = kind;
    if (text !== undefined) node.textContent = text;
    return node;
  };
  const count = (n) => n.toLocaleString("en");

  // One side of a paragraph: runs of [code, text], where 1 marks a shared shingle and 2 a difference.
  const side = (runs, which, title) => {
    const cell = make("div");
    cell.dir = "auto";
    cell.dataset.side = title.split(":")[0]; // said in the cell where both sides are in one column
    for (let i = 0; i < runs.length; i += 2) {
      const kind = (runs[i] & 1 ? "s " : "") + (runs[i] & 2 ? "d " + which : "");
      const text = runs[i + 1], words = text.trimEnd();
      const rest = i + 2 < runs.length ? text.slice(words.length) : "";
      if (kind && words) cell.append(make("span", kind.trim(), words), rest);
      else cell.append(words + rest);
    }
    return cell;
  };

  // "titles": of both sides; "none": what is said where texts are not at hand.
  const render = (box, titles, compared, none) => {
    box.textContent = "";
    const top = make("div", "line top");
    top.append(...titles.map((title) => make("div", "", title)));
    box.append(top);
    box.classList.toggle("mono", Boolean(compared?.code)); // code has a fixed font; its indentation is kept in any case
    if (!compared) {
      box.append(make("p", "cut", none));
      return;
    }
    for (const row of compared.rows) {
      const line = make("div", row.length === 1 ? "line same" : "line");
      if (typeof row === "number") line.append(make("div", "gap", "… " + count(row) + " equal words …"));
      else line.append(side(row[0], "left", titles[0]), side(row[row.length - 1], "right", titles[1]));
      box.append(line);
    }
    const words = compared.words;
    const common = count(words[2]) + " equal words in the same order; " + titles[0].split(":")[0] + ": " + count(words[0]) + " words; " + titles[1].split(":")[0] + ": " + count(words[1]);
    box.append(make("p", "how", common + (compared.shaded ? "" : "; shingles cannot be shown for these texts")));
    if (compared.cut) box.append(make("p", "cut", compared.cut));
    box.scrollTop = 0;
  };

  return { make, count, render };
})();
