"use strict";
(() => {
  // What scrolls can be reached by the keyboard.
  document.querySelectorAll(".wide").forEach(box => {
    if (box.scrollWidth > box.clientWidth) box.tabIndex = 0;
  });

  // A heading sorts its table: numbers from the largest down, words from A to Z, then the reverse.
  const key = cell => parseFloat(cell.textContent.replace(/^[<>]\s*/, "").replace("\u2212", "-").replaceAll(",", ""));
  const sort = (head, place) => {
    const body = head.closest("table").tBodies[0], words = head.className.includes("nm") || place === 0;
    const down = head.getAttribute("aria-sort") === "descending" ? false : head.getAttribute("aria-sort") === "ascending" || !words;
    head.closest("tr").querySelectorAll("[aria-sort]").forEach(other => other.removeAttribute("aria-sort"));
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    const value = row => words ? row.cells[place].textContent : key(row.cells[place]);
    const order = (a, b) => words ? value(a).localeCompare(value(b)) : (value(a) || 0) - (value(b) || 0);
    const rows = [...body.rows].sort(order);
    body.append(...(down ? rows.reverse() : rows));
  };
  document.querySelectorAll(".plain thead th").forEach(head => {
    const button = document.createElement("button");
    button.append(...head.childNodes);
    head.append(button);
    button.onclick = () => sort(head, [...head.parentNode.children].indexOf(head));
  });

  // Any two models: their difference, from the numbers of the page.
  const link = document.querySelector("a[download$=json]"), duel = document.querySelector("#duel > div");
  if (!link || !duel) return;
  const written = link.getAttribute("href"), whole = JSON.parse(decodeURIComponent(written.slice(written.indexOf(",") + 1))).overall;
  if (!whole || whole.models.length < 3 || !whole.pairs) return;
  const pairs = whole.pairs.rows.map(row => Object.fromEntries(whole.pairs.columns.map((name, place) => [name, row[place]])));
  const bar = duel.appendChild(document.createElement("div"));
  bar.className = "pick";
  const selects = [0, 1].map(place => {
    const label = bar.appendChild(document.createElement("label"));
    label.textContent = place ? "against " : "Any two: ";
    const select = label.appendChild(document.createElement("select"));
    whole.models.forEach(name => { select.appendChild(document.createElement("option")).textContent = name; });
    select.selectedIndex = place;
    return select;
  });
  const said = bar.appendChild(document.createElement("output"));
  const unit = duel.closest("main").querySelector(".lb th.sc").textContent.includes("%") ? 100 : 1;
  const show = value => (value > 0 ? "+" : "") + (unit * value).toFixed(unit > 1 ? 1 : 3).replace("-", "\u2212");
  const tell = () => {
    const [one, other] = selects.map(select => select.value);
    const row = pairs.find(each => each.model_a === one && each.model_b === other);
    const back = pairs.find(each => each.model_a === other && each.model_b === one);
    if (!row && !back) { said.textContent = ""; return; }
    const [diff, lo, hi] = row ? [row.diff, row.lo, row.hi] : [-back.diff, -back.hi, -back.lo];
    said.textContent = `${show(diff)} [${show(lo)}, ${show(hi)}]` + ((row || back).better ? "" : ", open");
  };
  selects.forEach(select => { select.onchange = tell; });
})();
