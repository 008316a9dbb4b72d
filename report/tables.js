"use strict";

// Tables that are sorted by their headings, and copied as LaTeX or CSV. It takes the texts of the
// files that a page links from tableFiles, which tables/data.js sets: the text by the path.

(() => {
  // said is read out after something was done.
  const said = document.createElement("p");
  said.className = "said";
  said.setAttribute("role", "status");

  // keyOf returns what a cell is sorted by: its first number, or its text, or null without any.
  const keyOf = (cell) => {
    const without = cell.cloneNode(true);
    for (const part of without.querySelectorAll(".n, .sd, .mark, button")) part.remove();
    const text = without.textContent.trim();
    if (text === "" || text === "–") return null;
    const number = /^[[<]?([+−-]?\d+(?:\.\d+)?)/.exec(text);
    return number ? parseFloat(number[1].replace("−", "-")) - (text[0] === "<" ? 1e-9 : 0) : text;
  };

  const compare = (a, b) => {
    if (typeof a === "number" && typeof b === "number") return a - b;
    return String(a).localeCompare(String(b), "en", { numeric: true });
  };

  // sortable puts a button into each heading of a table. Averages stay below, and empty cells stand
  // behind others.
  const sortable = (table) => {
    const body = table.tBodies[0], headings = [...table.tHead.rows[0].cells];
    const rows = [...body.rows].filter((row) => !row.classList.contains("average"));
    if (rows.length < 2) return;
    const averages = [...body.rows].filter((row) => row.classList.contains("average"));
    headings.forEach((heading, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.className = "sort";
      button.append(...heading.childNodes);
      heading.append(button);
      button.addEventListener("click", () => {
        const was = heading.getAttribute("aria-sort");
        for (const other of headings) other.removeAttribute("aria-sort");
        let order = rows;
        if (was !== "descending") {
          const sign = was === "ascending" ? -1 : 1;
          heading.setAttribute("aria-sort", sign > 0 ? "ascending" : "descending");
          order = rows.map((row) => ({ row, key: keyOf(row.cells[column]) })).sort((a, b) => {
            if (a.key === null || b.key === null) return (a.key === null) - (b.key === null);
            return sign * compare(a.key, b.key);
          }).map(({ row }) => row);
        }
        body.append(...order, ...averages);
        said.textContent = (was === "descending" ? "In the original order" : "Sorted by " + button.textContent + ", " + heading.getAttribute("aria-sort")) + ".";
      });
    });
  };

  // copy puts a text on the clipboard. Where the browser does not let a page do so, it selects it
  // in a field of its own.
  const copy = async (text) => {
    if (navigator.clipboard) {
      try {
        await navigator.clipboard.writeText(text);
        return true;
      } catch (_) { /* not allowed: the old way */ }
    }
    const field = document.createElement("textarea");
    field.value = text;
    field.readOnly = true;
    field.className = "copied";
    document.body.append(field);
    field.select();
    const done = document.execCommand("copy");
    field.remove();
    return done;
  };

  // copyable adds buttons to the links of a table's files.
  const copyable = (files) => {
    for (const link of [...files.querySelectorAll("a")]) {
      const text = globalThis.tableFiles?.[link.getAttribute("href")];
      if (text === undefined) continue;
      const button = document.createElement("button");
      button.type = "button";
      button.className = "copy";
      button.textContent = "Copy " + link.textContent;
      button.addEventListener("click", async () => {
        said.textContent = (await copy(text)) ? "Copied the table as " + link.textContent + "." : "The browser does not let this page copy.";
        button.focus();
      });
      files.append(button);
    }
  };

  for (const table of document.querySelectorAll("table.scores")) sortable(table);
  for (const files of document.querySelectorAll("p.files")) copyable(files);
  document.body.append(said);
})();
