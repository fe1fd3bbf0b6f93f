"use strict";
// Sorts the rows of a table by a column; those without a value stay last, equal ones in their order.
for (const table of document.querySelectorAll("table.sortable")) {
  const heads = [...table.tHead.rows[0].cells];
  const body = table.tBodies[0];
  for (const [column, head] of heads.entries()) {
    if (!head.dataset.first) continue;
    const button = document.createElement("button");
    button.type = "button";
    const arrow = document.createElement("span");
    arrow.className = "arrow";
    arrow.ariaHidden = "true";
    button.append(...head.childNodes);
    button.firstChild.after(arrow);
    head.append(button);
    button.addEventListener("click", () => {
      const other = { ascending: "descending", descending: "ascending" };
      const order = other[head.getAttribute("aria-sort")] ?? head.dataset.first;
      for (const one of heads) one.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", order);
      const sign = order === "ascending" ? 1 : -1;
      const value = (row) => row.cells[column]?.dataset.value;
      const compare = (a, b) => (isNaN(a - b) ? a.localeCompare(b, "en", { numeric: true }) : a - b);
      const rows = [...body.rows].sort((first, second) => {
        const [a, b] = [value(first), value(second)];
        if (a === undefined || b === undefined) return (a === undefined) - (b === undefined);
        return sign * compare(a, b);
      });
      body.append(...rows);
    });
  }
}
// Paper shows everything.
let closed = [];
addEventListener("beforeprint", () => {
  closed = [...document.querySelectorAll("details:not([open])")];
  for (const one of closed) one.open = true;
});
addEventListener("afterprint", () => {
  for (const one of closed) one.open = false;
});
