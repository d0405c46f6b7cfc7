// The search page: finds the words of the query in the texts of all pages and shows the sentence they stand in.
// The texts are scripts, because a page that is opened as a file may fetch nothing (see search_texts.py).
"use strict";

(() => {
  const list = document.getElementById("search-results");
  const titles = JSON.parse(list.dataset.frameworks);
  const query = new URLSearchParams(location.search).get("q")?.trim() ?? "";
  const say = JSON.parse(list.dataset.words);
  const han = /\p{Script=Han}/u;
  const around = /^["'`“‘(（《，。、；：！？]+|["'`”’()（）》.,;:!?，。、；：！？]+$/g; // a word, such as the parentheses of a call
  const runs = query.match(/\p{Script=Han}+|[^\s\p{Script=Han}]+/gu) ?? [];
  const words = runs.flatMap((run) => (han.test(run) ? segments(run) : run.replace(around, ""))).filter(Boolean);
  let patterns = []; // of all words, once the texts are there
  const chosen = (() => {
    try {
      return localStorage.getItem("sphinx-design-tab-id-tab");
    } catch (blocked) {
      return null;
    }
  })();

  // The words of Chinese text; where the browser knows none, each two neighbouring characters.
  function segments(run) {
    if (Intl.Segmenter) {
      const parts = new Intl.Segmenter("zh", { granularity: "word" }).segment(run);
      return [...parts].map((part) => part.segment);
    }
    const letters = [...run];
    return letters.length < 2 ? letters : letters.slice(1).map((letter, before) => letters[before] + letter);
  }

  // A word finds all that begin as it does without its ending: "caches" finds "cache" and "caching".
  // So do the parts of a name: "last" finds "channels_last", and "compile" finds "torch.compile".
  // A Chinese one has neither endings nor spaces around it, and finds itself.
  function stem(word) {
    const escaped = (text) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
    if (han.test(word)) return new RegExp(escaped(word), "iu");
    const begin = escaped(word.replace(/(?<=\p{L}{4})(ies|ing|ed|es|s|y|e)$/u, ""));
    const start = /^[\p{L}\p{N}]/u.test(word) ? "(?<![\\p{L}\\p{N}])" : "";
    return new RegExp(`${start}${begin}[\\p{L}\\p{N}_]*`, "iu");
  }

  // What finds a word as it was typed, or where no place has that, the names in it: of "jax.jit(g)", "jax" and "jit".
  function patternsOf(word, places) {
    const whole = stem(word);
    const known = places.some(({ title, texts }) => [["", title], ...texts].some(([, text]) => whole.test(text)));
    return known ? whole : (word.match(/[\p{L}\p{N}_]{2,}/gu) ?? [word]).map(stem);
  }

  const fill = (text, fields) => text.replace(/\{(\w+)\}/g, (field, name) => fields[name]);
  const count = (text) => patterns.filter((pattern) => pattern.test(text)).length;

  // What the readers of one framework find in a place: how many of the words, and the line with most of them, which is
  // a sentence if one has as many as a line of code.
  function view({ title, texts }, framework) {
    const own = texts.filter(([owner]) => !owner || owner === framework);
    const lines = own.flatMap(([owner, text, code]) =>
      text.split("\n").map((line) => ({ worth: count(line) - (code ? 0.5 : 0), framework: owner, line, code })),
    );
    const best = lines.reduce((one, other) => (other.worth > one.worth ? other : one), { worth: -1, line: "" });
    return { ...best, words: count([title, ...lines.map(({ line }) => line)].join("\n")) };
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
    for (const match of text.matchAll(new RegExp(patterns.map(({ source }) => source).join("|"), "giu"))) {
      element.append(text.slice(end, match.index));
      element.appendChild(document.createElement("mark")).textContent = match[0];
      end = match.index + match[0].length;
    }
    element.append(text.slice(end));
  }

  function show({ page, heading, anchor, title, framework, line, code }) {
    const item = list.appendChild(document.createElement("li"));
    const link = item.appendChild(document.createElement("a"));
    link.href = `${page}.html${framework ? `?tab=${framework}` : ""}${anchor ? `#${anchor}` : ""}`;
    marked(link, title && title !== heading ? `${heading} › ${title}` : heading);
    if (framework) item.append(fill(say.framework, { framework: titles[framework] }));
    const found = item.appendChild(document.createElement("p"));
    marked(code ? found.appendChild(document.createElement("code")) : found, line.trim());
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
    const places = await load();
    const known = words.flatMap((word) => patternsOf(word, places));
    patterns = known.filter(({ source }, at) => known.findIndex((other) => other.source === source) === at);
    const hits = places.map(hit);
    const most = Math.max(1, ...hits.map(({ words }) => words));
    const lines = new Set(); // the checklist repeats what sections say
    const found = hits
      .filter(({ words, line, code }) => words === most && (code || !line || (!lines.has(line) && lines.add(line))))
      .sort((one, other) => other.worth - one.worth);
    found.forEach(show);
    const count = fill(found.length === 1 ? say.place : say.places, { n: found.length });
    const whole = most === patterns.length || !found.length;
    tell(fill(whole ? say.found : say.partly, { places: count, query, n: most }));
  }

  function tell(words) {
    document.getElementById("search-status").textContent = words;
  }

  for (const input of document.querySelectorAll("input[name=q]")) input.value = query;
  if (!window.DecompressionStream) tell(say.newer);
  else if (query) search();
})();
