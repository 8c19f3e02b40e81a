// What every page of Mousehole can do beyond being read: sort and filter tables, choose which series are
// shown, copy commands, draw charts. Without it the page is complete; charts are then still pictures.
"use strict";
(() => {
  const every = (selector, root = document) => Array.from(root.querySelectorAll(selector));
  const made = (name, attributes, text) => {
    const element = Object.assign(document.createElement(name), attributes);
    if (text !== undefined) element.textContent = text;
    return element;
  };
  const status = document.getElementById("status");
  const say = (text) => { status.textContent = text; };

  // --- tables ---------------------------------------------------------------------------------------

  const LEAST_ROWS_TO_FIND = 9;

  // The number that the text of a cell with numbers begins with; null if it begins with something else.
  const numberOf = (cell) => {
    if (!cell.classList.contains("number")) return null;
    const found = /^[<>≤≥~±\s]*([+−-]?\d[\d,]*(?:\.\d+)?)/.exec(cell.textContent.trim());
    return found ? Number(found[1].replace("−", "-").replaceAll(",", "")) : null;
  };

  const valueOf = (row, place) => {
    const cell = row.cells[place];
    if (!cell) return null;
    const given = cell.dataset.value;
    if (given === undefined) return numberOf(cell) ?? (cell.textContent.trim().toLowerCase() || null);
    if (given === "") return null;
    const number = Number(given);
    return Number.isNaN(number) ? given.toLowerCase() : number;
  };

  // Rows without a value come last, whichever way the others are sorted; equal rows keep their order.
  const compare = (one, other, sign) => {
    if (one === null || other === null) return (one === null) - (other === null);
    if (typeof one === "number" && typeof other === "number") return sign * (one - other);
    return sign * String(one).localeCompare(String(other), undefined, { numeric: true });
  };

  const sortBy = (table, place) => {
    const heads = Array.from(table.tHead.rows[0].cells);
    const way = heads[place].getAttribute("aria-sort") === "ascending" ? "descending" : "ascending";
    const rows = Array.from(table.tBodies[0].rows);
    rows.sort((a, b) => compare(valueOf(a, place), valueOf(b, place), way === "ascending" ? 1 : -1));
    table.tBodies[0].append(...rows);
    heads.forEach((head, number) => {
      if (number === place) head.setAttribute("aria-sort", way);
      else head.removeAttribute("aria-sort");
    });
    say(`Sorted by ${heads[place].textContent.trim()}, ${way}.`);
  };

  const makeSortable = (table) => {
    if (!table.tHead || table.tBodies[0].rows.length < 2) return;
    Array.from(table.tHead.rows[0].cells).forEach((head, place) => {
      const button = made("button", { type: "button" });
      button.append(...head.childNodes);
      button.addEventListener("click", () => sortBy(table, place));
      head.append(button);
    });
  };

  const makeFindable = (table) => {
    const rows = Array.from(table.tBodies[0].rows);
    if (rows.length < LEAST_ROWS_TO_FIND) return;
    const count = made("span", {}, "");
    const field = made("input", { type: "search", autocomplete: "off" });
    const label = made("label", {}, "Rows with ");
    label.append(field);
    const line = made("div", { className: "find" });
    line.append(label, count);
    table.closest(".scroll").before(line);
    field.addEventListener("input", () => {
      const wanted = field.value.trim().toLowerCase();
      let kept = 0;
      for (const row of rows) {
        const fits = row.textContent.toLowerCase().includes(wanted);
        row.dataset.found = fits ? "" : "no";
        kept += fits;
      }
      showRows();
      count.textContent = wanted ? `${kept} of ${rows.length}` : "";
      say(`${kept} of ${rows.length} rows`);
    });
  };

  // --- which series are shown -----------------------------------------------------------------------

  const boxes = every(".choices input[type=checkbox]");
  const shown = () => boxes.filter((box) => box.checked).map((box) => box.value);

  const showRows = () => {
    const all = new Set(boxes.map((box) => box.value));
    const wanted = new Set(shown());
    for (const row of every("tr[data-key], tr[data-found]")) {
      const key = row.dataset.key;
      row.hidden = row.dataset.found === "no" || (all.has(key) && !wanted.has(key));
    }
  };

  const showSeries = () => {
    showRows();
    for (const view of views.values()) {
      try { view.signal("shown", shown()).runAsync(); } catch { /* a chart without series */ }
    }
  };

  const makeChoices = (panel) => {
    panel.hidden = false;
    const all = made("button", { type: "button" }, "All");
    const none = made("button", { type: "button" }, "None");
    for (const [button, checked] of [[all, true], [none, false]]) {
      button.addEventListener("click", () => {
        boxes.forEach((box) => { box.checked = checked; });
        showSeries();
      });
    }
    panel.querySelector("div").append(all, none);
    panel.addEventListener("change", showSeries);
  };

  // --- charts ---------------------------------------------------------------------------------------

  const NARROW = 480;
  const views = new Map();
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const looks = document.getElementById("looks");
  const { config, dark: darkColours } = looks ? JSON.parse(looks.textContent) : {};
  const coloured = (text) =>
    dark.matches ? text.replace(/#[0-9a-f]{6}\b/g, (colour) => darkColours[colour] || colour) : text;

  const draw = async (figure) => {
    const live = figure.querySelector(".live"), still = figure.querySelector(".static");
    const width = figure.clientWidth;
    const spec = JSON.parse(coloured(figure.querySelector("script.spec").textContent));
    const look = JSON.parse(coloured(JSON.stringify(config)));
    const longest = Math.max(8, ...boxes.map((box) => box.value.length));
    look.legend.columns = Math.max(1, Math.floor((width - 90) / (7.5 * longest + 32)));
    look.legend.labelLimit = width - 90;
    look.axisY.labelLimit = width < NARROW ? 110 : 220;
    if (width < NARROW) look.axisX.tickCount = 4;
    for (const param of spec.params || []) if (param.name === "shown") param.value = shown();
    live.hidden = false;
    const embedded = await vegaEmbed(live, spec, { actions: false, renderer: "svg", config: look });
    views.get(figure)?.finalize();
    views.set(figure, embedded.view);
    live.querySelector("svg").removeAttribute("aria-label");
    still.hidden = true;
    if (!figure.querySelector(".actions")) addActions(figure);
    figure.dataset.drawn = "yes";
  };

  const addActions = (figure) => {
    const line = made("div", { className: "actions" });
    const name = figure.querySelector("h3").textContent;
    for (const kind of ["SVG", "PNG"]) {
      const button = made("button", { type: "button" }, `Save as ${kind}`);
      button.setAttribute("aria-label", `Save the chart “${name}” as ${kind}`);
      button.addEventListener("click", async () => {
        const address = await views.get(figure).toImageURL(kind.toLowerCase(), kind === "PNG" ? 2 : 1);
        made("a", { href: address, download: `${figure.id}.${kind.toLowerCase()}` }).click();
      });
      line.append(button);
    }
    figure.querySelector(".picture").after(line);
  };

  const failed = (figure, error) => {
    figure.querySelector(".live").hidden = true;
    figure.dataset.drawn = "no";
    console.error(error);
  };

  const drawWhenSeen = (figures) => {
    const observer = new IntersectionObserver((entries) => {
      for (const entry of entries) {
        if (!entry.isIntersecting) continue;
        observer.unobserve(entry.target);
        draw(entry.target).catch((error) => failed(entry.target, error));
      }
    }, { rootMargin: "600px" });
    figures.forEach((figure) => observer.observe(figure));
    dark.addEventListener("change", () => {
      for (const figure of views.keys()) draw(figure).catch((error) => failed(figure, error));
    });
  };

  // --- commands, paper ------------------------------------------------------------------------------

  const makeCopyable = (block) => {
    const button = made("button", { type: "button" }, "Copy");
    block.classList.add("copies");
    block.append(button);
    button.addEventListener("click", async () => {
      const text = block.querySelector("pre");
      try {
        await navigator.clipboard.writeText(text.textContent);
        button.textContent = "Copied";
      } catch {
        getSelection().selectAllChildren(text);
        button.textContent = "Selected";
      }
      say(button.textContent);
    });
  };

  let opened = [];
  addEventListener("beforeprint", () => {
    opened = every("details:not([open])");
    opened.forEach((one) => { one.open = true; });
  });
  addEventListener("afterprint", () => opened.forEach((one) => { one.open = false; }));

  every("table.sortable").forEach((table) => { makeFindable(table); makeSortable(table); });
  every(".choices").forEach(makeChoices);
  every(".code").forEach(makeCopyable);
  if (window.vegaEmbed) drawWhenSeen(every("figure.chart"));
  document.documentElement.dataset.ready = "yes";
})();
