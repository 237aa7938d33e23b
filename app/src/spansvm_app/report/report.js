"use strict";
// Adds hovering, choosing and sorting to the static page. Text from the data enters the page only
// through textContent.
(() => {
  const data = JSON.parse(document.getElementById("candidates").textContent);
  const tip = document.getElementById("tip");
  const chart = document.getElementById("search-chart");
  let active = null;

  for (const element of document.querySelectorAll(".needs-script")) element.hidden = false;

  // Hovering -----------------------------------------------------------------------------------

  function pair(name, value) {
    const line = document.createElement("div");
    for (const text of [name, value]) {
      line.appendChild(document.createElement("span")).textContent = text;
    }
    return line;
  }

  function setting(candidate) {
    return data.axes.map((axis) => `${axis.name} = ${axis.labels[axis.codes[candidate]]}`).join(", ");
  }

  function describe(element) {
    tip.textContent = "";
    if (element.dataset.tip !== undefined) {
      tip.textContent = element.dataset.tip;
      return;
    }
    const candidate = Number(element.dataset.candidate);
    const mark = candidate === data.best ? " ★" : "";
    tip.appendChild(document.createElement("strong")).textContent = setting(candidate) + mark;
    if (data.levels[candidate] < 0) tip.appendChild(pair("failed", ""));
    for (const [name, values] of data.columns) tip.appendChild(pair(name, values[candidate]));
    if (!data.converged[candidate]) tip.appendChild(pair("not converged", ""));
  }

  function show(element) {
    if (element === active) return;
    hide();
    active = element;
    element.classList.add("active");
    describe(element);
    tip.hidden = false;
    const at = element.getBoundingClientRect();
    const width = document.documentElement.clientWidth;
    const left = Math.min(Math.max(at.left + at.width / 2 - tip.offsetWidth / 2, 8),
      width - tip.offsetWidth - 8);
    const above = at.top - tip.offsetHeight - 10;
    tip.style.left = `${left + window.scrollX}px`;
    tip.style.top = `${(above > 0 ? above : at.bottom + 10) + window.scrollY}px`;
  }

  function hide() {
    if (active) active.classList.remove("active");
    active = null;
    tip.hidden = true;
  }

  function hovered(event) {
    return event.target.closest ? event.target.closest(".mark, .tipped") : null;
  }

  document.addEventListener("pointerover", (event) => {
    const element = hovered(event);
    if (element) show(element);
    else if (event.pointerType === "mouse") hide();
  });
  document.addEventListener("click", (event) => {
    const element = hovered(event);
    if (element) show(element);
    else hide();
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") hide();
  });

  // Keys: Tab reaches one mark of a chart, the arrow keys reach the others from it --------------

  const directions = {
    ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1],
  };

  function middle(element) {
    const box = element.getBoundingClientRect();
    return [box.left + box.width / 2, box.top + box.height / 2];
  }

  function neighbour(from, marks, [right, down]) {
    const [x, y] = middle(from);
    let best = null;
    let least = Infinity;
    for (const mark of marks) {
      const [u, v] = middle(mark);
      const along = (u - x) * right + (v - y) * down;
      const aside = Math.abs((u - x) * down) + Math.abs((v - y) * right);
      if (along > 0.5 && along + 3 * aside < least) {
        best = mark;
        least = along + 3 * aside;
      }
    }
    return best;
  }

  function reachable(svg) {
    const marks = () => [...svg.querySelectorAll(".mark:not(.absent), .tipped")];
    const all = marks();
    if (!all.length) return;
    const first = all.find((mark) => Number(mark.dataset.candidate) === data.best) || all[0];
    for (const mark of all) mark.setAttribute("tabindex", mark === first ? "0" : "-1");
    svg.addEventListener("focusin", (event) => {
      const element = hovered(event);
      if (!element) return;
      show(element);
      element.setAttribute("role", "img");
      element.setAttribute("aria-label", tip.innerText);
    });
    svg.addEventListener("focusout", hide);
    svg.addEventListener("keydown", (event) => {
      const from = hovered(event);
      if (!from || !(event.key in directions)) return;
      event.preventDefault();
      const next = neighbour(from, marks(), directions[event.key]);
      if (!next) return;
      from.setAttribute("tabindex", "-1");
      next.setAttribute("tabindex", "0");
      next.focus();
    });
  }

  for (const svg of document.querySelectorAll(".chart")) reachable(svg);

  // Other axes ---------------------------------------------------------------------------------

  const selects = [...document.querySelectorAll(".controls select")];

  function place(candidate) {
    return data.shown.map((index) => data.axes[index].codes[candidate]).join(" ");
  }

  function choose() {
    const fixed = selects.filter((select) => select.value !== "")
      .map((select) => [data.axes[Number(select.dataset.axis)].codes, Number(select.value)]);
    const fits = (candidate) => fixed.every(([codes, code]) => codes[candidate] === code);
    const best = new Map();
    for (const candidate of data.order) {
      if (fits(candidate) && !best.has(place(candidate))) best.set(place(candidate), candidate);
    }
    for (const mark of chart.querySelectorAll(".mark")) {
      const candidate = best.get(place(Number(mark.dataset.candidate)));
      mark.classList.toggle("absent", candidate === undefined);
      if (candidate === undefined) continue;
      const level = data.levels[candidate];
      mark.dataset.candidate = String(candidate);
      mark.classList.toggle("failed", level < 0);
      if (level < 0) mark.removeAttribute("fill");
      else mark.setAttribute("fill", data.palette[level]);
    }
    chart.querySelector(".star").setAttribute("visibility", fits(data.best) ? "visible" : "hidden");
    hide();
  }

  for (const select of selects) select.addEventListener("change", choose);

  // Sorting ------------------------------------------------------------------------------------

  function compare(left, right) {
    const [a, b] = [left.key, right.key];
    if (typeof a === "number" && typeof b === "number") return a - b;
    if (typeof a !== typeof b) return typeof a === "number" ? -1 : 1;
    return a.localeCompare(b, undefined, { numeric: true });
  }

  function keyOf(cell) {
    if (cell.dataset.value !== undefined) return Number(cell.dataset.value);
    return cell.textContent;
  }

  function sort(table, header) {
    const ascending = header.getAttribute("aria-sort") !== "ascending";
    const body = table.tBodies[0];
    const rows = [...body.rows].map((row) => ({ row, key: keyOf(row.cells[header.cellIndex]) }));
    rows.sort((left, right) => (ascending ? compare(left, right) : compare(right, left)));
    for (const other of header.parentNode.cells) other.removeAttribute("aria-sort");
    header.setAttribute("aria-sort", ascending ? "ascending" : "descending");
    body.append(...rows.map(({ row }) => row));
    fold(table);
  }

  // Long tables show their first rows until all are asked for ----------------------------------

  function fold(table) {
    const first = Number(table.dataset.first || Infinity);
    [...table.tBodies[0].rows].forEach((row, place) => {
      row.classList.toggle("folded", place >= first);
    });
  }

  for (const table of document.querySelectorAll("table[data-first]")) {
    const count = table.tBodies[0].rows.length;
    if (count <= Number(table.dataset.first)) continue;
    fold(table);
    const button = document.createElement("button");
    button.type = "button";
    button.className = "more-rows";
    button.textContent = `Show all ${count} rows`;
    table.parentNode.after(button);
    button.addEventListener("click", () => {
      delete table.dataset.first;
      fold(table);
      button.remove();
    });
  }

  for (const table of document.querySelectorAll("table.sortable")) {
    for (const header of table.tHead.rows[0].cells) {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = header.textContent;
      header.replaceChildren(button);
      button.addEventListener("click", () => sort(table, header));
    }
  }
})();
