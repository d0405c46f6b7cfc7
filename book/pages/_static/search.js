// The search page: finds the words of the query in the texts of all pages and shows the sentence they stand in.
// The texts are scripts, because a page that is opened as a file may fetch nothing (see search_texts.py).
"use strict";

(() => {
  const list = document.getElementById("search-results");
  const titles = JSON.parse(list.dataset.frameworks);
  const query = new URLSearchParams(location.search).get("q")?.trim() ?? "";
  const say = JSON.parse(list.dataset.words);
  const han = /\p{Script=Han}/u;
  const words = query.split(/\s+/).flatMap((word) => {
    if (!han.test(word)) return word.replace(/^["'“(]+|["'”),.;:!?]+$/g, "");
    const parts = [...new Intl.Segmenter("zh", { granularity: "word" }).segment(word)];
    return parts.filter((part) => part.isWordLike).map((part) => part.segment);
  });
  const patterns = [...new Set(words.filter(Boolean))].map(stem);
  const chosen = (() => {
    try {
      return localStorage.getItem("sphinx-design-tab-id-tab");
    } catch (blocked) {
      return null;
    }
  })();

  // A word finds all that begin as it does without its ending: "caches" finds "cache" and "caching".
  // A Chinese one has neither endings nor spaces around it, and finds itself.
  function stem(word) {
    const escaped = (text) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
    if (han.test(word)) return escaped(word);
    const begin = escaped(word.replace(/(?<=\p{L}{4})(ies|ing|ed|es|s|y|e)$/u, ""));
    return `(?<![\\p{L}\\p{N}_])${begin}[\\p{L}\\p{N}_]*`;
  }

  const fill = (text, fields) => text.replace(/\{(\w+)\}/g, (field, name) => fields[name]);
  const has = (text, pattern) => new RegExp(pattern, "iu").test(text);
  const count = (text) => patterns.filter((pattern) => has(text, pattern)).length;

  // What the readers of one framework find in a place: how many of the words, and the line with most of them.
  function view({ title, texts }, framework) {
    const own = texts.filter(([owner]) => !owner || owner === framework);
    const lines = own.flatMap(([owner, text]) => text.split("\n").map((line) => [count(line), owner, line]));
    const [worth, owner, line] = lines.reduce((one, other) => (other[0] > one[0] ? other : one), [-1, "", ""]);
    return { words: count([title, ...lines.map((each) => each[2])].join("\n")), worth, framework: owner, line };
  }

  // The view that has most, the reader's own if it has as much.
  function hit(place) {
    const views = [...new Set([chosen, ...place.texts.map(([owner]) => owner)])].map((name) => view(place, name));
    const rank = ({ words, worth }) => 100 * words + worth;
    const best = views.reduce((one, other) => (rank(other) > rank(one) ? other : one));
    const named = count(place.title) * (place.title === place.heading ? 3 : 2);
    return { ...place, ...best, worth: named + best.worth };
  }

  function marked(element, text) {
    let end = 0;
    for (const match of text.matchAll(new RegExp(patterns.join("|"), "giu"))) {
      element.append(text.slice(end, match.index));
      element.appendChild(document.createElement("mark")).textContent = match[0];
      end = match.index + match[0].length;
    }
    element.append(text.slice(end));
  }

  function show({ page, heading, anchor, title, framework, line }) {
    const item = list.appendChild(document.createElement("li"));
    const link = item.appendChild(document.createElement("a"));
    link.href = `${page}.html${framework ? `?tab=${framework}` : ""}${anchor ? `#${anchor}` : ""}`;
    marked(link, title && title !== heading ? `${heading} › ${title}` : heading);
    if (framework) item.append(fill(say.framework, { framework: titles[framework] }));
    marked(item.appendChild(document.createElement("p")), line);
  }

  async function unpacked(packed) {
    const bytes = Uint8Array.from(atob(packed), (letter) => letter.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    return new Response(stream).json();
  }

  // Return the places of all pages, in the book's order.
  async function load() {
    const pages = list.dataset.pages.split(" ");
    const found = {};
    window.d2lTexts = (page, heading, packed) => {
      found[page] = unpacked(packed).then((places) =>
        places.map(([anchor, title, texts]) => ({ page, heading, anchor, title, texts })),
      );
    };
    const loading = pages.map(
      (page) =>
        new Promise((resolve) => {
          const script = document.body.appendChild(document.createElement("script"));
          script.onload = script.onerror = resolve;
          script.src = `_texts/${page}.js`;
        }),
    );
    await Promise.all(loading);
    return (await Promise.all(pages.map((page) => found[page] ?? []))).flat();
  }

  async function search() {
    const hits = (await load()).map(hit);
    const most = Math.max(1, ...hits.map(({ words }) => words));
    const lines = new Set(); // the checklist repeats what sections say
    const found = hits
      .filter(({ words, line }) => words === most && !(line && lines.has(line)) && lines.add(line))
      .sort((one, other) => other.worth - one.worth);
    found.forEach(show);
    const places = fill(found.length === 1 ? say.place : say.places, { n: found.length });
    const whole = most === patterns.length || !found.length;
    const status = fill(whole ? say.found : say.partly, { places, query, n: most });
    document.getElementById("search-status").textContent = status;
  }

  for (const input of document.querySelectorAll("input[name=q]")) input.value = query;
  if (patterns.length) search();
})();
