// The framework switch, links to other languages that keep the place, and regions that scroll. Everything works without this file: tabs then stand at each place.
"use strict";

(() => {
  const root = document.documentElement;
  const bar = document.querySelector(".framework-switch");
  const buttons = bar ? [...bar.querySelectorAll("button")] : [];
  const known = buttons.map((button) => button.value);

  // Show one framework everywhere: the style sheet follows data-framework; the radio buttons of the
  // hidden tab bars follow too, so that sphinx-design and this switch never disagree.
  function show(name) {
    root.dataset.framework = name;
    for (const button of buttons) button.setAttribute("aria-pressed", String(button.value === name));
    for (const label of document.querySelectorAll(`.frameworks > label[data-sync-id="${name}"]`)) {
      document.getElementById(label.htmlFor).checked = true;
    }
  }

  function remember(name) {
    try {
      localStorage.setItem("sphinx-design-tab-id-tab", name);
    } catch (blocked) {
      // The reader forbids it: then the choice holds for this page.
    }
    const address = new URL(location);
    address.searchParams.set("tab", name);
    const target = targetOf(address.hash);
    if (target && !target.getClientRects().length) address.hash = "";
    history.replaceState(history.state, "", address);
  }

  function targetOf(hash) {
    try {
      return document.getElementById(decodeURIComponent(hash.slice(1)));
    } catch (malformed) {
      return null; // "#%" names nothing
    }
  }

  const frameworkAround = (element) => known.find((name) => element.closest(`.only-${name}`));

  // The framework that a link's target belongs to wins over everything else: the target must be seen.
  function showTarget() {
    const target = targetOf(location.hash);
    if (!target) return;
    const name = frameworkAround(target);
    if (name && name !== root.dataset.framework) show(name);
    unfold(target);
    target.scrollIntoView({ behavior: "instant" });
    showPlace(target);
  }

  function unfold(element) {
    for (let up = element.closest("details"); up; up = up.parentElement.closest("details")) up.open = true;
  }

  const lineOfEyes = () => Math.max(bar ? bar.getBoundingClientRect().bottom + 8 : 0, innerHeight / 3);

  // The place that a link to another language adds to the address, as "#section" and "at=3.25": a quarter of the way
  // through the fourth block of that section. Sections have the same ids and blocks in all languages, but for the marks of
  // the paths, which are found by titles.
  const blocksOf = (section) => [...section.querySelectorAll("p:not(.on-path, .onward), li, pre, tr, figure, dt, dd")];

  function keepPlace(link) {
    const address = new URL(link.href);
    address.search = location.search; // of the search page, the query
    if (bar) address.searchParams.set("tab", root.dataset.framework);
    const line = lineOfEyes();
    const begun = (block) => block.getClientRects().length && block.getBoundingClientRect().top <= line;
    const block = scrollY && blocksOf(document.querySelector("article")).findLast(begun);
    const section = block && block.closest("section[id]");
    if (section) {
      const { top, height } = block.getBoundingClientRect();
      const share = Math.min((line - top) / height, 0.99);
      address.searchParams.set("at", (blocksOf(section).indexOf(block) + share).toFixed(2));
      address.hash = section.id;
    }
    link.href = address;
  }

  function showPlace(section) {
    const at = new URLSearchParams(location.search).get("at");
    const block = at && blocksOf(section)[Math.floor(at)];
    if (!block) return;
    unfold(block);
    const { top, height } = block.getBoundingClientRect();
    scrollBy({ top: top + (at % 1) * height - lineOfEyes(), behavior: "instant" });
  }

  function forgetPlace() {
    const address = new URL(location);
    address.searchParams.delete("at");
    if (address.href !== location.href) history.replaceState(history.state, "", address);
  }

  // Where the reader's eyes are: a block of the text on the line a third down the window.
  // Inside a tab it is a place within the panel, which the other panel has too, further up or down.
  function placeOfEyes() {
    const line = lineOfEyes();
    const article = document.querySelector("article");
    const middle = article.getBoundingClientRect().left + article.clientWidth / 2;
    let block = null;
    for (let y = line; y < innerHeight && !block; y += 6) {
      const found = document.elementFromPoint(middle, y);
      if (found && article.contains(found) && !found.matches("article, section, .framework-switch *")) block = found;
    }
    if (!block) return () => line;
    const set = block.closest(".frameworks");
    if (!set) return () => block.getBoundingClientRect().top;
    if (set.getBoundingClientRect().top > bar.getBoundingClientRect().bottom) return () => set.getBoundingClientRect().top;
    const box = set.getBoundingClientRect();
    const share = (line - box.top) / box.height;
    return () => {
      const now = set.getBoundingClientRect();
      return now.top + share * now.height;
    };
  }

  function choose(name) {
    const place = placeOfEyes();
    const before = place();
    show(name);
    scrollBy({ top: place() - before, behavior: "instant" });
    remember(name);
  }

  // Keyboards must reach what scrolls: code, output, tables and formulas that are wider or longer than their place.
  // Widths are whole numbers, rounded each by itself: a difference of one is none.
  const boxes = document.querySelectorAll("article pre, .table-wrapper, .math-wrapper, div.math, .html-output");
  function markScrolling(box) {
    const scrolls = box.scrollWidth > box.clientWidth + 1 || box.scrollHeight > box.clientHeight + 1;
    if (scrolls) box.tabIndex = 0;
    else box.removeAttribute("tabindex");
  }

  for (const button of buttons) button.addEventListener("click", () => choose(button.value));
  if (bar) show(root.dataset.framework);
  for (const link of document.querySelectorAll("a.language")) link.addEventListener("click", () => keepPlace(link));
  showTarget();
  addEventListener("load", () => { // pictures have moved it since
    showTarget();
    forgetPlace();
  });
  addEventListener("hashchange", showTarget);
  // A box changes its size when it comes into view too: with its framework, or when a fold around it opens.
  const sizes = new ResizeObserver((changed) => changed.forEach(({ target }) => markScrolling(target)));
  for (const box of boxes) sizes.observe(box);
  // A font that came late changes what a box holds, not its size: look once more before the key moves the focus.
  addEventListener("keydown", ({ key }) => key === "Tab" && boxes.forEach(markScrolling), true);
})();
