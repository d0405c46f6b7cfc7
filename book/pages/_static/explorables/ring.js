// The ring all-reduce, step by step. It is simulated: a cell is the set of ranks whose parts a rank's chunk holds.
"use strict";

{
  const { make, replace, speaker } = explorable;
  const say = speaker(document.currentScript);
  const MOST = 6;
  const RULES = {
    "reduce-scatter": say("reduce-scatter: each rank sends a chunk to the next, which adds it to its own."),
    "all-gather": say("all-gather: each rank sends a whole sum to the next, which keeps it."),
  };

  const phase = (step, n) => (step < n ? "reduce-scatter" : "all-gather");
  const parts = (cell) => [...cell].sort().join("+");
  const row = (n, entry) => Array.from({ length: n }, (_, place) => entry(place));

  // Return the state before the first step: every rank holds its own part of each chunk and has sent nothing.
  function start(n) {
    return { cells: row(n, (rank) => row(n, () => new Set([rank]))), step: 0, messages: [], sent: row(n, () => 0) };
  }

  // Return the state a step later. All ranks send at once, so the messages are made before the first arrives.
  function next({ cells, step, sent }) {
    const n = cells.length;
    const messages = row(n, (from) => {
      const chunk = (from - step + 2 * n) % n;
      return { from, to: (from + 1) % n, chunk, cell: cells[from][chunk] };
    });
    const after = cells.map((chunks) => [...chunks]);
    for (const { to, chunk, cell } of messages) {
      after[to][chunk] = phase(step + 1, n) === "all-gather" ? cell : added(cells[to][chunk], cell);
    }
    return { cells: after, step: step + 1, messages, sent: sent.map((chunks) => chunks + 1) };
  }

  // Return the sum of two chunks; a rank's part that both hold would be counted twice.
  function added(one, other) {
    const sum = new Set([...one, ...other]);
    if (sum.size < one.size + other.size) throw new Error(`${parts(one)} and ${parts(other)} share a part`);
    return sum;
  }

  // Return what the step did, and at the end whether every rank holds all.
  function told({ cells, step, messages, sent }) {
    const n = cells.length;
    if (!step) return say("Start: every rank holds its own part of each of {n} chunks. Sent so far: nothing.", { n });
    const { to, chunk, cell } = messages[0];
    const all = 2 * (n - 1);
    const moves = [
      say("Step {step} of {all}, {rule}", { step, all, rule: RULES[phase(step, n)] }),
      say(" Rank 0 sends chunk {chunk}, which holds {parts}, to rank {to}.", { chunk, parts: parts(cell), to }),
      say(" Sent so far by each rank: {share}.", { share: `${sent[0]}/${n} · S = ${(sent[0] / n).toFixed(2)} S` }),
    ].join("");
    if (step < all) return moves;
    const lacking = cells.flat().filter((one) => one.size < n).length;
    const end = lacking ? say(" Wrong: {lacking} chunks lack a part.", { lacking }) : say(" Every rank holds every sum.");
    return moves + end;
  }

  // Return the rows of the table; a chunk that has just arrived comes in from the rank above.
  function drawn({ cells, messages }) {
    const n = cells.length;
    return cells.map((chunks, rank) => {
      const shown = chunks.map((cell, chunk) => {
        const moved = messages.some((message) => message.to === rank && message.chunk === chunk);
        const kind = `chunk${cell.size === n ? " whole" : ""}${moved ? " moved" : ""}`;
        // A line may end behind a plus sign.
        const words = parts(cell).split("+").flatMap((part, place) => (place ? ["+", make("wbr", {}), part] : [part]));
        return make("td", { class: kind, style: `--share: ${(100 * cell.size) / n}%` }, make("span", {}, ...words));
      });
      return make("tr", {}, make("th", { scope: "row" }, say("rank {rank}", { rank })), ...shown);
    });
  }

  function build() {
    let states = [];
    const button = (words, action) => make("button", { type: "button", click: action }, words);
    const back = button(say("Back"), () => states.length > 1 && show(states.slice(0, -1)));
    const step = button(say("Step"), () => !over() && show([...states, next(states.at(-1))]));
    const reset = button(say("Reset"), () => show(states.slice(0, 1)));
    const sizes = row(MOST - 1, (place) => make("option", place === 2 ? { selected: "" } : {}, String(place + 2)));
    const ranks = make("select", { change: () => show([start(Number(ranks.value))]) }, ...sizes);
    const [head, body] = [make("thead", {}), make("tbody", {})];
    const words = make("p", { "aria-live": "polite" });
    const over = () => states.length > 2 * (states[0].cells.length - 1);

    // A button that can do nothing says so and keeps the focus, which a disabled one would lose.
    function show(list) {
      states = list;
      const state = states.at(-1);
      const chunks = state.cells.map((_, chunk) => make("th", { scope: "col" }, say("chunk {chunk}", { chunk })));
      head.replaceChildren(make("tr", {}, make("td", {}), ...chunks));
      body.replaceChildren(...drawn(state));
      words.textContent = told(state);
      back.setAttribute("aria-disabled", String(states.length === 1));
      step.setAttribute("aria-disabled", String(over()));
    }

    show([start(Number(ranks.value))]);
    const controls = make("div", { class: "controls" }, make("label", {}, say("Ranks "), ranks), back, step, reset);
    return [controls, make("table", { "aria-label": say("The parts that each chunk holds") }, head, body), words];
  }

  replace("ring", build);
}
