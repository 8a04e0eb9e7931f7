"use strict";
(() => {
  const numbers = JSON.parse(document.getElementById("numbers").textContent);
  const rowsOf = frame => frame ? frame.rows.map(row =>
    Object.fromEntries(frame.columns.map((name, place) => [name, row[place]]))) : [];
  const make = (tag, parent, text = "") => {
    const element = parent.appendChild(document.createElement(tag));
    element.textContent = text;
    return element;
  };
  const labelled = (words, tag, parent) => make(tag, make("label", parent, words + " "));
  const options = (select, names) => names.forEach(name => make("option", select, name).value = name);

  // What scrolls can be reached by the keyboard.
  document.querySelectorAll(".wide").forEach(box => {
    if (box.scrollWidth > box.clientWidth) box.tabIndex = 0;
  });

  // A heading sorts its table: numbers from the largest down, words from A to Z, then the reverse.
  const sortKey = cell => {
    const number = parseFloat(cell.textContent.replaceAll(",", "").replace(/^[<>]/, ""));
    return Number.isNaN(number) ? -Infinity : number;
  };
  const sortable = table => table.tHead.querySelectorAll("th").forEach((head, place) => {
    if (head.className === "draw" || !head.textContent.trim()) return;
    const button = document.createElement("button");
    button.append(head.firstChild);
    head.prepend(button);
    button.onclick = () => {
      const up = head.getAttribute("aria-sort") === (head.className === "n" ? "descending" : "ascending");
      const descending = head.className === "n" ? !up : up;
      table.querySelectorAll("[aria-sort]").forEach(other => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", descending ? "descending" : "ascending");
      const body = table.tBodies[0];
      const order = head.className === "n"
        ? (a, b) => sortKey(a.cells[place]) - sortKey(b.cells[place])
        : (a, b) => a.cells[place].textContent.localeCompare(b.cells[place].textContent);
      const rows = [...body.rows].sort(order);
      body.append(...(descending ? rows.reverse() : rows));
    };
  });
  document.querySelectorAll("table:not(.versus)").forEach(sortable);

  // Search: one field for the models of all tables of the leaderboard, if there are many.
  const boards = [...document.querySelectorAll("#leaderboard .board")];
  const controls = boards.length ? document.createElement("div") : null;
  const many = boards.some(board => board.tBodies[0].rows.length > 5);
  if (controls) {
    controls.className = "controls";
    boards[0].parentElement.before(controls);
  }
  if (many) {
    const search = labelled("Search models", "input", controls);
    search.type = "search";
    search.oninput = () => {
      const wanted = search.value.toLowerCase();
      boards.forEach(board => {
        for (const row of board.tBodies[0].rows)
          row.hidden = !row.querySelector("th").textContent.toLowerCase().includes(wanted);
        const fold = board.closest("details");
        if (fold && wanted) fold.open = true;
      });
    };
  }

  // The metric and k whose intervals are drawn.
  const main = numbers.overall, report = main ? rowsOf(main.report) : [];
  const labelOf = row => row.metric + (row.k === null ? "" : ", k = " + row.k);
  const kinds = [...new Set(report.map(labelOf))];
  const order = main && main.models ? main.models : [];
  const places = boards.flatMap(board => [...board.tBodies[0].rows]);
  if (kinds.length > 1 && places.length === order.length) {
    const drawn = new Map(places.map((row, place) => [order[place], row.querySelector(".draw")]));
    const first = new Map([...drawn].map(([name, cell]) => [name, cell.innerHTML]));
    const axis = boards[0].tHead.querySelector(".draw svg");
    const choice = labelled("Intervals of", "select", controls);
    options(choice, kinds);
    choice.onchange = () => {
      const own = choice.selectedIndex === 0;
      const rows = report.filter(row => labelOf(row) === choice.value && row.lo !== null);
      const low = Math.min(...rows.map(row => row.lo)), high = Math.max(...rows.map(row => row.hi));
      const place = value => 4 + 92 * (value - low) / (high - low || 1) + "%";
      axis.style.visibility = own ? "" : "hidden";
      drawn.forEach((cell, name) => cell.innerHTML = own ? first.get(name) : "");
      if (own) return;
      for (const row of rows) {
        const cell = drawn.get(row.model);
        if (!cell) continue;
        cell.innerHTML = first.get(row.model).replace(/>.*</s, `><line x1="${place(row.lo)}" ` +
          `x2="${place(row.hi)}" y1="9" y2="9"/><circle cx="${place(row.mu)}" cy="9" r="4"/><`);
        cell.title = [row.mu, row.lo, row.hi].map(value => value.toPrecision(3)).join(" | ");
      }
    };
  }

  // Compare any two models; the second one stays pinned as the baseline.
  const pairs = main ? rowsOf(main.pairs) : [];
  const versus = document.querySelector("table.versus");
  if (versus && pairs.length > 1) {
    const names = order.filter(name => pairs.some(row => name === row.model_a || name === row.model_b));
    const box = document.createElement("div");
    box.className = "controls";
    versus.parentElement.before(box);
    const first = labelled("Model", "select", box), second = labelled("Baseline", "select", box);
    options(first, names);
    options(second, names);
    second.selectedIndex = 1;
    const cells = new Map([...versus.tBodies[0].rows].map((row, place) => [place, row.cells[1]]));
    const percent = versus.textContent.includes(" points");
    const text = value => percent ? (100 * value).toFixed(1) : value.toPrecision(3);
    const fill = () => {
      const [a, b] = [first.value, second.value];
      const turned = pairs.find(row => row.model_a === b && row.model_b === a);
      const row = pairs.find(row => row.model_a === a && row.model_b === b) || turned && {
        diff: -turned.diff, lo: -turned.hi, hi: -turned.lo, prob_better: 1 - turned.prob_better,
        better: turned.better, wins: turned.losses, losses: turned.wins, ties: turned.ties};
      versus.tHead.rows[0].cells[1].textContent = a + " against " + b;
      versus.caption.textContent = a + " against " + b;
      versus.tBodies[0].rows[2].cells[0].textContent = `P(${a} is better)`;
      const facts = row ? [
        `${text(row.diff)}${percent ? " points" : ""} [${text(row.lo)}, ${text(row.hi)}]`,
        row.better ? row.better + " is better" : "undecided",
        row.prob_better > 0.9995 ? ">0.999" : row.prob_better < 0.0005 ? "<0.001" : row.prob_better.toFixed(3),
        [row.wins, row.ties, row.losses].join(", "),
      ] : [];
      const need = rowsOf(main.trials_needed).find(row =>
        [row.model_a, row.model_b].includes(a) && [row.model_a, row.model_b].includes(b));
      facts[4] = need ? need.extra === null ? "no number of trials"
        : need.extra + " further trials of each question" : "\u2013";
      cells.forEach((cell, place) => cell.textContent = facts[place] ?? "\u2013");
    };
    first.onchange = second.onchange = fill;
  }

  // JSON and CSV to save.
  const save = (words, name, kind, content) => {
    make("button", saved, words).onclick = () => {
      const link = document.createElement("a");
      link.href = URL.createObjectURL(new Blob([content()], {type: kind}));
      link.download = name;
      link.click();
      URL.revokeObjectURL(link.href);
    };
  };
  const quoted = value => {
    const text = value === null ? "" : String(value);
    const safe = /^[=+@\t\r]/.test(text) ? "'" + text : text;
    return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
  };
  const csv = () => {
    const parts = Object.entries(numbers.strata || {}).map(([name, part]) => [name, part.report]);
    if (main) parts.unshift(["", main.report]);
    const columns = ["model", "metric", "k", "estimate", "mu", "lo", "hi"];
    const lines = parts.flatMap(([name, frame]) =>
      rowsOf(frame).map(row => [name, ...columns.map(column => row[column])]));
    return [["stratum", ...columns], ...lines].map(row => row.map(quoted).join(",")).join("\r\n");
  };
  const saved = document.createElement("div");
  saved.className = "controls";
  document.querySelector("#data h2").after(saved);
  save("Save JSON", "report.json", "application/json", () => JSON.stringify(numbers, null, 1));
  if (!numbers.refused) save("Save CSV", "report.csv", "text/csv", csv);
})();
