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

  // Return a function that says a script's texts, {fields} filled in, in the language for which its element has words.
  speaker(script) {
    const words = JSON.parse(script.dataset.words ?? "{}");
    return (text, fields) => (words[text] ?? text).replace(/\{(\w+)\}/g, (_, name) => fields[name]);
  },

  // Put what `build` returns, a list of elements, in place of each text of this kind.
  replace(kind, build) {
    for (const place of document.querySelectorAll(`.explorable.${kind}`)) {
      place.replaceChildren(...build());
      place.classList.add("playing");
    }
  },
};
