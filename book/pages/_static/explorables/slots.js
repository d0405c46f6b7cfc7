// Requests that arrive at random and share the steps of a model's slots: latency and throughput, simulated.
"use strict";

{
  const { make, replace, speaker } = explorable;
  const say = speaker(document.currentScript);
  const REQUESTS = 2000;
  const MEAN = 12; // tokens of an answer
  const SHOWN = 60; // steps in the drawing
  const PLACES = 500; // positions of a sequence, for the bytes of its keys and values
  // Milliseconds of a step, a part that is fixed and a part for each sequence; bytes of a position.
  const MACHINES = [
    { name: say("two cores, 28 million weights"), fixed: 6.8, each: 0.36, position: 24.6e3 },
    { name: say("an H100, 7 billion weights"), fixed: 4.2, each: 0.09, position: 524e3 },
  ];
  const SLOTS = [1, 2, 4, 8, 16, 32];
  const LOADS = [20, 40, 60, 80, 90, 100];

  // Return a function that draws from an exponential distribution, the same numbers each time.
  function exponential() {
    let state = 1;
    return (mean) => {
      state = (state * 48271) % 2147483647;
      return -mean * Math.log(state / 2147483647);
    };
  }

  // Return p50, p95 and the whole time in milliseconds, the tokens, and how many slots write at each step.
  function simulate({ fixed, each }, slots, load, refill) {
    const draw = exponential();
    const pause = (MEAN * (fixed + each * slots)) / ((slots * load) / 100);
    let [now, arrival, batch] = [0, 0, []];
    const waiting = Array.from({ length: REQUESTS }, () => {
      arrival += draw(pause);
      return { arrival, left: Math.ceil(draw(MEAN - 0.5)) };
    });
    const tokens = waiting.reduce((sum, request) => sum + request.left, 0);
    const [latencies, writing] = [[], []];
    while (latencies.length < REQUESTS) {
      if (refill || batch.every((request) => !request.left)) batch = batch.filter((request) => request.left);
      if (!batch.length) now = Math.max(now, waiting[0].arrival);
      const open = refill || !batch.length ? slots - batch.length : 0;
      for (let i = 0; i < open && waiting.length && waiting[0].arrival <= now; i++) batch.push(waiting.shift());
      now += fixed + each * batch.length;
      writing.push(batch.filter((request) => request.left).length);
      for (const request of batch) {
        if (request.left && !--request.left) latencies.push(now - request.arrival);
      }
    }
    latencies.sort((one, other) => one - other);
    return { p50: latencies[REQUESTS / 2], p95: latencies[(REQUESTS * 19) / 20], now, tokens, writing };
  }

  const seconds = (milliseconds) => (milliseconds / 1e3).toPrecision(3);

  function build() {
    const choice = (values, chosen, names = values.map(String)) =>
      make(
        "select",
        { change: show },
        ...values.map((value, i) => make("option", { value, ...(value === chosen ? { selected: "" } : {}) }, names[i])),
      );
    const machines = choice([0, 1], 0, MACHINES.map((machine) => machine.name));
    const slots = choice(SLOTS, 8);
    const loads = choice(LOADS, 80, LOADS.map((load) => `${load} %`));
    const ways = choice([1, 0], 1, [say("continuous"), say("static")]);
    const bars = make("div", { class: "bars", "aria-hidden": "true" });
    const words = make("p", { "aria-live": "polite" });

    function show() {
      const [machine, most] = [MACHINES[machines.value], Number(slots.value)];
      const { p50, p95, now, tokens, writing } = simulate(machine, most, Number(loads.value), ways.value === "1");
      const useful = (100 * tokens) / (writing.length * most);
      const middle = Math.floor(writing.length / 2);
      const shown = writing.slice(middle, middle + SHOWN);
      bars.replaceChildren(...shown.map((busy) => make("span", { style: `height: ${(100 * busy) / most}%` })));
      words.textContent = [
        say("Half of the requests take at most {p50} s, 95 % at most {p95} s, ", { p50: seconds(p50), p95: seconds(p95) }),
        say("at {rate} tokens a second; ", { rate: ((1e3 * tokens) / now).toFixed(0) }),
        say("{useful} % of the slots' steps write a token. ", { useful: useful.toFixed(0) }),
        say("Keys and values of {slots} sequences of {places} tokens: {bytes} GB.", {
          slots: most,
          places: PLACES,
          bytes: ((most * PLACES * machine.position) / 1e9).toPrecision(3),
        }),
      ].join("");
    }

    show();
    const label = (text, control) => make("label", {}, text, control);
    const controls = [
      label(say("Machine "), machines),
      label(say("Slots "), slots),
      label(say("Load "), loads),
      label(say("Batching "), ways),
    ];
    const drawing = make("div", {}, make("span", {}, say("Slots that write, in {steps} steps:", { steps: SHOWN })), bars);
    return [make("div", { class: "controls" }, ...controls), drawing, words];
  }

  replace("slots", build);
}
