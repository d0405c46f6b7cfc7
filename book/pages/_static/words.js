// A word of the glossary shows its meaning in a note: while the pointer or the focus of the keyboard is on it, or at the
// first tap; the second follows the link. Without this file the meaning is the link's title.
"use strict";

(() => {
  const words = document.querySelectorAll("a.word[title]");
  if (!words.length || !("popover" in HTMLElement.prototype)) return;
  const DELAY = 200; // milliseconds, in which the pointer may move from the word onto the note
  const GAP = 6; // pixels between a word and its note, and between a note and the edge of the window
  const notes = new Map(); // by the meaning
  let shown = null; // the word whose note is open
  let touched = false;
  let hiding;

  function noteOf(word) {
    const meaning = word.title;
    if (!notes.has(meaning)) {
      const note = document.createElement("div");
      note.className = "meaning";
      note.id = `meaning-${notes.size + 1}`;
      note.role = "tooltip";
      note.popover = "manual";
      note.textContent = meaning;
      note.addEventListener("pointerenter", () => clearTimeout(hiding));
      note.addEventListener("pointerleave", hideSoon);
      document.querySelector("article").append(note);
      notes.set(meaning, note);
    }
    return notes.get(meaning);
  }

  // The note lies above the page, so that nothing moves; it scrolls with the word.
  function show(word) {
    clearTimeout(hiding);
    if (shown === word) return;
    hide();
    const note = document.getElementById(word.getAttribute("aria-describedby"));
    note.showPopover();
    const [line] = word.getClientRects();
    const right = document.documentElement.clientWidth - note.offsetWidth - GAP;
    const fits = line.bottom + GAP + note.offsetHeight <= innerHeight;
    note.style.left = `${scrollX + Math.max(GAP, Math.min(line.left, right))}px`;
    note.style.top = `${scrollY + (fits ? line.bottom + GAP : line.top - GAP - note.offsetHeight)}px`;
    shown = word;
  }

  function hide() {
    if (shown) document.getElementById(shown.getAttribute("aria-describedby")).hidePopover();
    shown = null;
  }

  function hideSoon() {
    clearTimeout(hiding);
    hiding = setTimeout(hide, DELAY);
  }

  for (const word of words) {
    word.setAttribute("aria-describedby", noteOf(word).id);
    word.removeAttribute("title");
    word.addEventListener("pointerenter", ({ pointerType }) => pointerType !== "touch" && show(word));
    word.addEventListener("pointerleave", ({ pointerType }) => pointerType !== "touch" && hideSoon());
    word.addEventListener("focus", () => word.matches(":focus-visible") && show(word));
    word.addEventListener("blur", hide);
    word.addEventListener("click", (click) => {
      if (!touched || shown === word) return;
      click.preventDefault();
      show(word);
    });
  }
  document.addEventListener("pointerdown", ({ pointerType, target }) => {
    touched = pointerType === "touch";
    if (shown && !target.closest(".meaning") && target.closest("a") !== shown) hide();
  });
  document.addEventListener("keydown", ({ key }) => key === "Escape" && hide());
})();
