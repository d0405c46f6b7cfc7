// The framework switch, and regions that scroll. Everything works without this file: tabs then stand at each place.
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
    for (let up = target.closest("details"); up; up = up.parentElement.closest("details")) up.open = true;
    target.scrollIntoView({ behavior: "instant" });
  }

  // Where the reader's eyes are: a block of the text on the line a third down the window.
  // Inside a tab it is a place within the panel, which the other panel has too, further up or down.
  function placeOfEyes() {
    const line = Math.max(bar.getBoundingClientRect().bottom + 8, innerHeight / 3);
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
  const boxes = document.querySelectorAll("article pre, .table-wrapper, .math-wrapper, div.math");
  function markScrolling(box) {
    const scrolls = box.scrollWidth > box.clientWidth + 1 || box.scrollHeight > box.clientHeight + 1;
    if (scrolls) box.tabIndex = 0;
    else box.removeAttribute("tabindex");
  }

  for (const button of buttons) button.addEventListener("click", () => choose(button.value));
  if (bar) show(root.dataset.framework);
  showTarget();
  addEventListener("load", showTarget); // pictures have moved it since
  addEventListener("hashchange", showTarget);
  // A box changes its size when it comes into view too: with its framework, or when a fold around it opens.
  const sizes = new ResizeObserver((changed) => changed.forEach(({ target }) => markScrolling(target)));
  for (const box of boxes) sizes.observe(box);
  // A font that came late changes what a box holds, not its size: look once more before the key moves the focus.
  addEventListener("keydown", ({ key }) => key === "Tab" && boxes.forEach(markScrolling), true);
})();
