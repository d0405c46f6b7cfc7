// What the explorables of a page share. Without scripts the page shows the text that an explorable would replace.
"use strict";

const explorable = {
  // Return a new element; an attribute that is a function is called when the event of its name occurs.
  make(tag, attributes, ...children) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
      if (typeof value === "function") element.addEventListener(name, value);
      else element.setAttribute(name, value);
    }
    element.append(...children);
    return element;
  },

  // Return a new element of a drawing.
  draw(tag, attributes, ...children) {
    const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    element.append(...children);
    return element;
  },

  // Return a figure to three digits in the first of these units, from the largest, that is no larger than the figure.
  quantity(value, units) {
    if (!value) return "0";
    const known = Object.entries(units);
    const [unit, size] = known.find(([, size]) => value >= 0.9995 * size) ?? known.at(-1);
    return `${(value / size).toLocaleString("en", { maximumSignificantDigits: 3 })} ${unit}`;
  },

  // Return a setting, a row of its words, of a slider over the powers of two from 2**from to 2**to, and of its value.
  powers(words, name, [from, to, at], changed) {
    const value = explorable.make("span", { class: "value", "aria-hidden": "true" });
    const moved = () => {
      value.textContent = (2 ** input.value).toLocaleString("en");
      input.setAttribute("aria-valuetext", value.textContent);
    };
    const ends = { type: "range", name, min: from, max: to, value: at };
    const input = explorable.make("input", { ...ends, input: () => (moved(), changed()) });
    moved();
    const label = explorable.make("label", {}, explorable.make("span", {}, words), input);
    return { row: explorable.make("div", {}, label, value), get: () => 2 ** input.value };
  },

  // Return the rows of a table of figures: their names, bars in proportion to them, and what is said of each.
  bars(figures, whole) {
    return figures.map(({ name, size, words, kind }) => {
      const bar = explorable.make("span", { class: "bar" });
      bar.style.width = `${(100 * size) / whole}%`;
      const head = explorable.make("th", { scope: "row" }, name);
      const cells = [explorable.make("td", {}, bar), explorable.make("td", {}, words)];
      return explorable.make("tr", kind ? { class: kind } : {}, head, ...cells);
    });
  },

  // Return a function that says a script's texts, {fields} filled in, in the language for which its element has words.
  speaker(script) {
    const words = JSON.parse(script.dataset.words ?? "{}");
    return (text, fields) => (words[text] ?? text).replace(/\{(\w+)\}/g, (_, name) => fields[name]);
  },

  // Put what `build` returns, a list of elements, in place of each text of this kind, which is kept for the printer.
  replace(kind, build) {
    for (const place of document.querySelectorAll(`.explorable.${kind}`)) {
      const text = explorable.make("div", { class: "still" }, ...place.childNodes);
      place.replaceChildren(...build(), text);
      place.classList.add("playing");
    }
  },
};
