// Guess first: a stop's row and what its cell shows stay covered until the reader has guessed what was measured or wants
// to be shown it. book.css covers them where the page's head finds that the reader has chosen so; a link to the cell
// uncovers them, and so does print. Guesses are kept in the browser by section, cell, framework and build.
"use strict";

(() => {
  const { make, speaker } = explorable;
  const say = speaker(document.currentScript);
  const root = document.documentElement;
  const CHOICE = "d2l-guess"; // "on" or "off"; page.html reads it too
  const KEPT = "d2l-guesses";
  const STEP = 0.05; // of a decade: a key moves a guess by an eighth
  const PAUSE = 1000; // milliseconds from the prediction to the measurement
  const FOURFOLD = Math.log(4); // the end of the picture of factors
  // Of each unit: the decades of the line, which say nothing about the figure, an example, and how its name is written.
  const UNITS = {
    s: [[-7, 2], "12 ms", "s|min"],
    B: [[2, 11], "12 MB", "B|bytes?"],
    "B/s": [[6, 13], "12 GB/s", "(?:B|bytes?)/s"],
    flop: [[3, 15], "12 Gflop", "flops?"],
    "flop/s": [[6, 15], "12 Gflop/s", "flops?(?:/s)?"],
    "×": [[-2, 2], "1.5 ×", "[×x]?"],
    "": [[-3, 5], "12", "%?"],
  };
  const PREFIXES = { n: 1e-9, µ: 1e-6, m: 1e-3, "": 1, k: 1e3, M: 1e6, G: 1e9, T: 1e12 };

  // Return the figure that a text such as "12 ms", "1.5e-3 s" or "4 MiB" says in `unit`, null if it says none above 0.
  function parse(text, unit) {
    const spelled = new RegExp(`^([\\d.,]+(?:e[+-]?\\d+)?)\\s*(?:(n|u|µ|μ|m|k|M|G|T)?(i)?(${UNITS[unit][2]}))$`, "i");
    const [, digits, letter = "", binary, name] = spelled.exec(text.trim()) ?? [];
    if (digits === undefined) return null;
    const small = unit === "s" ? letter.toLowerCase() : letter.toUpperCase().replace("K", "k");
    const prefix = PREFIXES[small.replace(/[uμ]/, "µ")];
    const scale = binary ? 1024 ** (Math.log10(prefix) / 3) : prefix;
    const value = Number(digits.replace(/,(?=\d{3}(\D|$))/g, "").replace(",", "."));
    const result = value * scale * ({ min: 60, "%": 0.01 }[name] ?? 1);
    return result > 0 && Number.isFinite(result) ? result : null;
  }

  // Return a figure with its unit, to three digits.
  function figure(value, unit, digits = 3) {
    const plain = unit === "×" || unit === "";
    const sizes = Object.entries(PREFIXES).filter(([, size]) => (plain ? size === 1 : (size <= 1) === (unit === "s") || size === 1));
    const [prefix, size] = sizes.findLast(([, size]) => value * 1.0005 >= size) ?? sizes[0];
    return `${rounded(value / size, digits)} ${prefix}${unit}`.trim();
  }

  const rounded = (value, digits = 3) =>
    value >= 999.5 ? Math.round(value).toLocaleString("en") : value.toPrecision(digits);
  const off = (guess, measured) => Math.max(guess / measured, measured / guess);

  function kept() {
    try {
      return JSON.parse(localStorage.getItem(KEPT)) ?? {};
    } catch (blockedOrDamaged) {
      return {};
    }
  }

  function keep(name, value) {
    try {
      localStorage.setItem(name, value);
    } catch (blocked) {
      // The reader forbids it: then it holds for this page.
    }
  }

  // ---- Stops ----

  // Give a row its line: decades, and marks of the guess, then of the prediction, then of the measurement.
  function build(row) {
    const { guess: key, unit } = row.dataset;
    const [predicted, measured] = [Number(row.dataset.predicted), Number(row.dataset.measured)];
    const [decades, example] = UNITS[unit];
    const logs = [predicted, measured].map(Math.log10);
    const low = Math.min(decades[0], ...logs.map(Math.floor));
    const high = Math.max(decades[1], ...logs.map(Math.ceil));
    const name = row.cells[0].firstChild.textContent.trim();
    let at = (low + high) / 2; // where the slider is
    let guess = null;

    const place = (log) => `${(100 * (Math.min(high, Math.max(low, log)) - low)) / (high - low)}%`;
    const mark = (kind, value) => line.append(make("span", { class: kind, style: `left: ${place(Math.log10(value))}` }));
    const line = make("div", { class: "line", role: "slider", tabindex: 0, "aria-valuemin": low, "aria-valuemax": high });
    line.setAttribute("aria-label", say("Your guess: {name}", { name }));
    for (let power = low; power <= high; power++) {
      const words = power % 3 && unit !== "×" ? "" : figure(10 ** power, unit, 1);
      line.append(make("span", { class: "decade", style: `left: ${place(power)}` }, words));
    }
    const input = make("input", { size: 9, placeholder: example, autocomplete: "off", "aria-label": say("Your guess, with its unit") });
    const buttons = [
      make("button", {}, say("Guess")),
      make("button", { type: "button", title: "Esc", click: () => finish(null) }, say("Show me")),
    ];
    const result = make("output", { tabindex: -1 });
    const form = make("form", { class: "guess", novalidate: "" }, line, make("div", { class: "entry" }, input, ...buttons), result);

    // Take a guess on as the reader moves or writes it; null while what he writes is none.
    function take(value, written = false) {
      guess = value;
      line.querySelector(".own")?.remove();
      if (value) {
        at = Math.min(high, Math.max(low, Math.log10(value)));
        mark("own", value);
        if (!written) input.value = figure(value, unit);
      }
      input.setCustomValidity("");
      line.setAttribute("aria-valuenow", at.toFixed(2));
      line.setAttribute("aria-valuetext", value ? figure(value, unit) : say("no guess yet"));
    }

    function open() {
      if (row.classList.contains("open")) return;
      mark("predicted", predicted);
      mark("measured", measured);
      row.classList.add("predicted", "open");
      result.textContent = guess
        ? say("▼ Your guess, {guess}, is off by {times} ×.", { guess: figure(guess, unit), times: rounded(off(guess, measured)) })
        : "";
      for (const attribute of ["tabindex", "role", "aria-valuemin", "aria-valuemax", "aria-valuenow", "aria-valuetext", "aria-label"]) {
        line.removeAttribute(attribute);
      }
      line.setAttribute("aria-hidden", "true"); // the row has its figures
    }

    function finish(value) {
      if (row.classList.contains("predicted")) return;
      keep(KEPT, JSON.stringify({ ...kept(), [key]: { guess: value, at: Date.now() } }));
      result.focus({ preventScroll: true });
      take(value);
      if (!value) return open();
      row.classList.add("predicted");
      mark("predicted", predicted);
      result.textContent = say("Predicted: {figure}", { figure: row.cells[1].textContent });
      setTimeout(() => {
        line.querySelector(".predicted").remove();
        open();
      }, PAUSE);
    }

    line.addEventListener("click", ({ clientX }) => {
      if (row.classList.contains("predicted")) return;
      const box = line.getBoundingClientRect();
      take(10 ** (low + ((clientX - box.left) / box.width) * (high - low)));
    });
    line.addEventListener("keydown", (press) => {
      const far = { ArrowRight: STEP, ArrowUp: STEP, ArrowLeft: -STEP, ArrowDown: -STEP, PageUp: 1, PageDown: -1 };
      const to = { Home: low, End: high }[press.key] ?? (far[press.key] && at + far[press.key]);
      if (press.key === "Enter") form.requestSubmit();
      else if (to !== undefined) take(10 ** Math.min(high, Math.max(low, to)));
      else return;
      press.preventDefault();
    });
    input.addEventListener("input", () => take(parse(input.value, unit), true));
    form.addEventListener("keydown", ({ key }) => key === "Escape" && finish(null));
    form.addEventListener("submit", (submit) => {
      submit.preventDefault();
      if (guess) return finish(guess);
      input.setCustomValidity(say("Write a number above 0 and its unit, such as {example}.", { example }));
      input.reportValidity();
    });
    row.openStop = open;
    row.lastElementChild.append(form);
    take(kept()[key]?.guess ?? null);
    if (key in kept()) open();
  }

  function showTarget() {
    const cell = document.getElementById(location.hash.slice(1))?.closest(".cell");
    for (const row of cell?.querySelectorAll("tr.stop") ?? []) row.openStop?.();
  }

  function begin() {
    for (const row of document.querySelectorAll("tr.stop")) if (!row.openStop) build(row);
    showTarget();
  }

  for (const button of document.querySelectorAll(".guess-offer button")) {
    button.addEventListener("click", () => {
      root.dataset.guess = button.value;
      keep(CHOICE, button.value);
      if (button.value === "on") begin();
      [...document.querySelectorAll(".guess-offer button")].find((other) => other.checkVisibility())?.focus();
    });
  }
  addEventListener("hashchange", showTarget);
  if (root.dataset.guess === "on") begin();

  // ---- The page of models: each guess at the height of its prediction's mark, and how good they all are ----

  function median(numbers) {
    const sorted = [...numbers].sort((one, other) => one - other);
    return (sorted[(sorted.length - 1) >> 1] + sorted[sorted.length >> 1]) / 2;
  }

  function draw({ link, guess, measured }) {
    const picture = link.ownerSVGElement;
    const { low, decade, half } = picture.dataset;
    const factor = Math.max(-FOURFOLD, Math.min(FOURFOLD, Math.log(measured / guess))) / FOURFOLD;
    const x = decade ? (Math.log10(guess) - low) * decade : half * (1 + factor);
    const cross = document.createElementNS(picture.namespaceURI, "path");
    cross.setAttribute("class", "own");
    cross.setAttribute("d", `M${x - 4} ${link.dataset.y - 4}l8 8m0 -8l-8 8`);
    const words = document.createElementNS(picture.namespaceURI, "title");
    words.textContent = say("Your guess: {name}", { name: figure(guess, link.dataset.unit) });
    cross.append(words);
    picture.append(cross);
  }

  const all = kept();
  for (const place of document.querySelectorAll(".guess-score p")) {
    const links = document.querySelectorAll(`.only-${place.dataset.framework} .scatter a[data-guess]`);
    const guesses = [...links]
      .map((link) => ({ link, measured: Number(link.dataset.measured), ...all[link.dataset.guess] }))
      .filter(({ guess }) => guess)
      .sort((one, other) => one.at - other.at);
    guesses.forEach(draw);
    const misses = guesses.map(({ guess, measured }) => off(guess, measured));
    const n = misses.length;
    const parts = [misses, misses.slice(0, n >> 1), misses.slice(n >> 1)];
    const [whole, first, second] = parts.map((part) => part.length && rounded(median(part)));
    if (n === 1) place.textContent = say("✕ You have guessed once, and were off by {whole} ×.", { whole });
    if (n > 1) {
      const fields = { n, whole, first, second };
      place.textContent = say("✕ You have guessed {n} times: the median is off by {whole} ×, in the first half by {first} ×, in the second by {second} ×.", fields);
    }
  }
})();
