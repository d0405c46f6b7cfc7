// What the tests look at on a page, and what they do to it: each tab has these functions, which tests call by name.
"use strict";

const all = (selector, within = document) => [...within.querySelectorAll(selector)];
const seen = (selector, within = document) => all(selector, within).filter((element) => element.checkVisibility());
const choices = () => all(".framework-switch button");
const textOf = (element) => element.textContent.trim();

// Wait until the page's observers have seen what changed.
async function settled() {
  for (let frame = 0; frame < 2; frame++) await new Promise(requestAnimationFrame);
}

// Open what folds, and set explorables to what takes most room.
async function unfold() {
  for (const fold of all("article details")) fold.open = true;
  for (const input of all(".explorable input")) set(input, input.max);
  for (const input of all(".explorable select")) set(input, input.options[input.options.length - 1].value);
  const steps = all(".ring button").filter((button) => textOf(button) === "Step");
  for (let step = 0; step < 7; step++) steps.forEach((button) => button.click());
  await settled();
}

function set(input, value) {
  input.value = value;
  input.dispatchEvent(new Event(input.matches("select") ? "change" : "input"));
}

// The frameworks of which anything is drawn, the button pressed, where the hidden tab bars stand, and the kinds of
// content that the chosen framework has, but of which nothing is drawn.
function state() {
  const pressed = all('.framework-switch [aria-pressed="true"]').map((button) => button.value);
  const bars = all(".frameworks > input:checked + label").map((label) => label.dataset.syncId);
  const names = choices().map((button) => button.value);
  const lost = (kind) => all(`.only-${pressed} ${kind}`).length && !seen(`.only-${pressed} ${kind}`).length;
  return {
    shown: names.filter((name) => seen(`.only-${name}:not(.empty)`).length),
    pressed,
    bars: [...new Set(bars)],
    lost: [".prose", ".cell_input", ".cell_output"].filter(lost),
  };
}

// What `look` returns for each framework in turn.
function forEachChoice(look) {
  return choices().map((button) => {
    button.click();
    return look();
  });
}

// By how much blocks of common text move when another framework is chosen while they stand under the reader's eyes.
// Near the end of the page the window must move, because a shorter text has no such place.
function moves() {
  const blocks = all("article section > p, article section > h2");
  const found = [];
  for (let place = 1; place < blocks.length; place += Math.max(1, Math.floor(blocks.length / 8))) {
    const top = () => blocks[place].getBoundingClientRect().top;
    scrollTo({ top: top() + scrollY - innerHeight / 3 + 4, behavior: "instant" });
    if (scrollY + innerHeight > document.documentElement.scrollHeight - 900) break;
    const before = top();
    for (const button of choices().reverse()) {
      button.click();
      found.push(Math.abs(top() - before));
    }
  }
  return found;
}

// Whether each button of the switch can be pressed, near the top of the window.
function switchOnTop() {
  return choices().map((button) => {
    const box = button.getBoundingClientRect();
    return box.top < 120 && document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2) === button;
  });
}

// How many pieces of code and output take the focus; boxes that scroll and take none, or that take it without need.
function focus() {
  const amiss = seen("article *").filter((box) => {
    const style = getComputedStyle(box);
    const hidden = (way, more) => ["auto", "scroll"].includes(style[`overflow${way}`]) && more > 1;
    const wide = hidden("X", box.scrollWidth - box.clientWidth);
    const long = hidden("Y", box.scrollHeight - box.clientHeight);
    return (wide || long) !== (box.tabIndex === 0 && box.matches("pre, div"));
  });
  const words = amiss.map((box) => `${box.outerHTML.slice(0, 80)} ${box.scrollWidth} in ${box.clientWidth}`);
  return [all("article pre[tabindex='0']").length, words];
}

const marked = () => all(".toc-tree .scroll-current > a").map((link) => link.hash);
const contents = () => all('.toc-tree a[href^="#"]').filter((link) => link.hash); // without the title of the page

// Follow each link of the table of contents; return [link, what is marked then, whether its heading is seen], for a
// heading that is not seen where it is.
async function follow() {
  const found = [];
  for (const link of contents()) {
    const arrived = new Promise((done) => addEventListener("hashchange", done, { once: true }));
    link.click();
    await arrived;
    const heading = document.getElementById(decodeURIComponent(link.hash.slice(1))).querySelector("h1, h2, h3, h4");
    const room = () => [document.querySelector(".framework-switch").getBoundingClientRect().bottom, innerHeight];
    const there = () => {
      const { top, bottom } = heading.getBoundingClientRect();
      return (room()[0] <= top && bottom <= room()[1]) || `${top} to ${bottom}, not in ${room().join(" to ")}`;
    };
    // On a busy machine, the page may begin to scroll some frames after the click.
    for (let before = null, left = 100; left > 0 && (before !== scrollY || there() !== true); left--) {
      before = scrollY;
      await settled();
    }
    found.push([link.hash, marked().join(), there()]);
  }
  return found;
}

// Cells that are all claims, as they are seen: how many lines, how many pieces of code, and of code once unfolded.
function claims() {
  return seen(".tag_claims").map((cell) => {
    const before = [seen(".claim", cell).length, seen(".cell_input", cell).length];
    for (const fold of all("details", cell)) fold.open = true;
    const unfolded = seen(".cell_input", cell).length;
    for (const fold of all("details", cell)) fold.open = false; // the next framework finds the cell as this one did
    return [...before, unfolded];
  });
}

// Folds titled "Solution": where each begins and ends; and how many cells of solutions are seen before any of them
// opens, and outside of them once all are open.
function solutions() {
  const folds = seen("article details").filter((fold) => textOf(fold.querySelector("summary")) === "Solution");
  const places = folds.map((fold) => fold.getBoundingClientRect()).map(({ top, bottom }) => [top, bottom]);
  const before = seen(".tag_solution").length;
  for (const fold of folds) fold.open = true;
  const loose = before + seen(".tag_solution").filter((cell) => !cell.closest("details[open]")).length;
  for (const fold of folds) fold.open = false; // the next framework finds them as this one did
  return { places, loose };
}

// Folds with what checks an answer: whether a solution follows, how many pieces of code are seen before one opens and
// after that, and whether they call the check.
function foldedChecks() {
  return seen("details.exercise").map((fold) => {
    const before = seen(".cell_input", fold).length;
    fold.open = true;
    const unfolded = seen(".cell_input", fold);
    const checked = unfolded.some((cell) => textOf(cell).includes("d2l.check"));
    fold.open = false;
    return [fold.nextElementSibling.matches("details.solution"), before, unfolded.length, checked];
  });
}

// How far to the right each framework's text goes, and how wide the window's content is.
// furo clips what is too wide: measure the text itself, apart from what scrolls within its own place.
async function widths() {
  await unfold();
  const apart = "pre, .table-wrapper, .math-wrapper, math, .headerlink, svg, button";
  const look = () => {
    const drawn = all("article > section *").filter((e) => !e.closest(apart) && e.getClientRects().length);
    const edge = Math.max(0, ...drawn.map((e) => e.getBoundingClientRect().right));
    return { ...document.documentElement.dataset, edge, content: document.documentElement.scrollWidth };
  };
  return choices().length ? forEachChoice(look) : [look()];
}

// axe's time grows with the elements of the page. Those left out here say nothing new to it: the tokens of code (they
// have a test of their own), and what stands inside a formula. The panels of all frameworks are shown at once, so that
// what they share is looked at once.
// Colours come from an element's classes and from those around it: of the elements with the same, one is looked at.
async function prepareForAxe() {
  await unfold();
  for (const panel of all(".frameworks > .panel")) panel.style.setProperty("display", "block", "important");
  for (const code of all(".cell_input pre")) code.textContent = code.textContent;
  for (const formula of all("math")) formula.replaceWith("x");
  const kinds = new Map();
  for (const element of seen("body *")) {
    if (![...element.childNodes].some((node) => node instanceof Text && node.data.trim())) continue;
    let kind = "";
    for (let up = element; up; up = up.parentElement) {
      const panel = up.matches(".frameworks > .panel");
      kind += panel ? "panel " : `${up.tagName}.${up.className}[${up.style.cssText}] `;
    }
    if (!kinds.has(kind)) kinds.set(kind, element);
  }
  window.oneOfEach = { include: [...kinds.values()] };
}

// In place of the text: a word for each class of token to which the style sheet gives a colour, as code and as output.
function tokensAlone() {
  const sheet = [...document.styleSheets].find((sheet) => sheet.href && sheet.href.includes("pygments.css"));
  const names = [...sheet.cssRules].map((rule) => /^\.highlight \.(\w+)$/.exec(rule.selectorText)).filter(Boolean);
  const words = names.map(([, name]) => `<span class="${name}">${name}</span>`).join(" ");
  const cell = (kind) => `<div class="cell_${kind}"><div class="highlight"><pre>${words}</pre></div></div>`;
  window.oneOfEach = document.querySelector("article > section");
  window.oneOfEach.innerHTML = `<div class="cell">${cell("input")}${cell("output")}</div>`;
  if (names.length < 40) throw new Error(`the style sheet colours ${names.length} classes of tokens`);
}

function harm() {
  document.querySelector("article img").removeAttribute("alt");
  document.querySelector(".framework-switch button").textContent = "";
  document.querySelector("article h1").style.cssText = "color: #777; font-size: 1rem";
}

async function faults(options) {
  const found = await axe.run(options.runOnly ? window.oneOfEach : document, options);
  return found.violations.flatMap((fault) => fault.nodes.map((node) => `${fault.id}: ${node.html.slice(0, 120)}`));
}

// The first sentence of a framework's last paragraph that is seen and has no formula, and the section it stands in.
function lastSentence(name) {
  const plain = all(`.only-${name} > .prose > p`).filter((p) => !p.querySelector("math") && !p.closest("details"));
  return [plain.at(-1).textContent.split(/\n|(?<=[。？！])/)[0].trim(), plain.at(-1).closest("section").id];
}

// Where the article's paragraphs that all frameworks share begin and end in the window.
function paragraphs() {
  return all("article section > p:not(.on-path)").map((block) => block.getBoundingClientRect()).map(({ top, bottom }) => [top, bottom]);
}

// What the search has found: sentences, their marked words, links.
function hits() {
  const parts = (hit) => [hit.querySelector("p"), all("mark", hit.querySelector("p")), hit.querySelector("a")];
  return all("#search-results li").map(parts).map(([line, marks, link]) => [textOf(line), marks.map(textOf), link.href]);
}

// The ring's chunks, as the ranks whose parts each holds; where some have just arrived; what is said about it.
function ring() {
  return {
    cells: all(".ring tbody tr").map((row) => all("td", row).map((cell) => cell.textContent.split("+").map(Number))),
    moved: all(".ring .moved").map((cell) => [cell.parentNode.rowIndex - 1, cell.cellIndex - 1]),
    words: document.querySelector(".ring p").textContent,
  };
}

// The rows of an explorable's table: for each of its names, what is said of it, and how much of the row its bar takes.
function bars(kind) {
  const share = (bar) => bar.getBoundingClientRect().width / bar.parentNode.getBoundingClientRect().width;
  const row = ({ cells: [name, bar, words] }) => [textOf(name), [textOf(words), share(bar.firstChild)]];
  return Object.fromEntries(all(`.${kind} .bars tr`).map(row));
}

// Choose to guess first, and write a guess at the first stop that is seen.
function guessFirst() {
  document.querySelector('.guess-offer .ask button[value="on"]').click();
  const input = seen("tr.stop input")[0];
  input.value = "12";
  input.dispatchEvent(new Event("input"));
}

// Where everything of the article stands, but for what asks for a guess; and which of its words can be seen.
function layout() {
  const apart = ".guess, .guess *, .guess-offer, .guess-offer *";
  const drawn = all("article *").filter((element) => !element.matches(apart) && element.getClientRects().length);
  return drawn.map((element) => Object.values(element.getBoundingClientRect().toJSON()).join());
}

const visible = (element) => element.checkVisibility({ visibilityProperty: true });

// The words that are drawn but covered, each with the cell that they stand in.
function covered() {
  const words = all("article *").filter((element) => element.checkVisibility() && !visible(element) && !element.closest(".guess, .headerlink, button"));
  const told = words.filter((element) => [...element.childNodes].some((node) => node instanceof Text && node.data.trim()));
  return told.map((element) => [element.closest(".cell_output")?.querySelector("tr.stop")?.dataset.guess, textOf(element)]);
}

// Show the meaning of the first word of the glossary on the page.
function openNote() {
  seen("article a.word")[0].dispatchEvent(new PointerEvent("pointerenter", { pointerType: "mouse" }));
}

// The width of the widest note that the page could show.
function widestNote() {
  const width = (note) => {
    const open = note.matches(":popover-open");
    if (!open) note.showPopover();
    const found = note.offsetWidth;
    if (!open) note.hidePopover();
    return found;
  };
  return Math.max(...all(".meaning").map(width));
}

// The first line of each printed table that is wider than its place, in any framework; a long message has no columns.
function wideTables() {
  const wide = (box) => box.scrollWidth > box.clientWidth + 1;
  const long = (box) => box.textContent.split("\n").filter((line) => line.length > 90 && /\S {2,}\S/.test(line));
  const look = () => seen(".cell_output pre").filter((box) => wide(box) && long(box).length > 3).map((box) => long(box)[0]);
  return forEachChoice(look).flat();
}

// The tables that are wider than their place, and what stands before the second cell of the last row of the others.
function tables(selector) {
  const kept = seen(selector).map((table) => [table, table.closest(".table-wrapper")]);
  const cut = kept.filter(([, box]) => box.scrollWidth > box.clientWidth + 1).length;
  const labels = kept.map(([table]) => getComputedStyle(table.querySelector("tr:last-child td"), "::before").content);
  return [cut, labels];
}

Object.assign(globalThis, {
  ...{ bars, claims, contents, covered, faults, focus, foldedChecks, follow, forEachChoice, guessFirst, harm, hits, lastSentence },
  ...{ layout, marked, moves },
  ...{ openNote, paragraphs, prepareForAxe, ring, seen, set, settled, solutions, state, switchOnTop, tables },
  ...{ tokensAlone, unfold, wideTables, widestNote, widths },
});
