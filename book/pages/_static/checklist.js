// The boxes of the checklist stay ticked, and the choice of machines too, in this browser. Without it they work as they are.
"use strict";

(() => {
  const boxes = [...document.querySelectorAll("input[data-advice]")];
  const machines = [...document.querySelectorAll("input[name=machine]")];
  const KEY = "d2l-checklist";

  function kept() {
    try {
      return JSON.parse(localStorage.getItem(KEY)) || {};
    } catch (blockedOrDamaged) {
      return {};
    }
  }

  function keep(change) {
    try {
      localStorage.setItem(KEY, JSON.stringify({ ...kept(), ...change }));
    } catch (blocked) {
      // The reader forbids it: then the ticks hold for this page.
    }
  }

  // An advice for several frameworks has a box in each.
  function show() {
    const { done = [], machine = "all" } = kept();
    for (const box of boxes) box.checked = done.includes(box.dataset.advice);
    for (const button of machines) button.checked = button.value === machine;
  }

  for (const box of boxes) {
    box.addEventListener("change", () => {
      const done = (kept().done || []).filter((name) => name !== box.dataset.advice);
      keep({ done: box.checked ? [...done, box.dataset.advice] : done });
      for (const twin of boxes) if (twin.dataset.advice === box.dataset.advice) twin.checked = box.checked;
    });
  }
  for (const button of machines) button.addEventListener("change", () => keep({ machine: button.value }));

  // A link leads to what is for other machines too.
  function reveal() {
    const target = document.getElementById(location.hash.slice(1));
    if (!target || target.getClientRects().length) return;
    for (const button of machines) button.checked = button.value === "all";
    target.scrollIntoView({ behavior: "instant" });
  }

  show();
  reveal();
  addEventListener("hashchange", reveal);
  addEventListener("storage", ({ key }) => key === KEY && show());
})();
