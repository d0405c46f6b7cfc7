// The time of an all-reduce by each algorithm: the formulas of d2l_utils/collectives/cost_model.py behind sliders.
"use strict";

{
  const { make, replace } = explorable;
  const [FIRST, LAST] = [1e-6, 1e3]; // the ends of the scale, in seconds
  const COUNT = { "": 1 };
  const BYTES = { GB: 1e9, MB: 1e6, kB: 1e3 };
  const RATE = { "GB/s": 1e9, "MB/s": 1e6 };
  const TIME = { s: 1, ms: 1e-3, µs: 1e-6 };
  // A slider moves in tenths of a decade: its place is ten times the decimal logarithm of its value.
  const SLIDERS = {
    n: { words: "Ranks, n", from: 3, to: 40, at: 30, units: COUNT },
    S: { words: "Bytes to sum, S", from: 30, to: 100, at: 82, units: BYTES },
    alpha: { words: "Latency of a message, α", from: -63, to: -30, at: -50, units: TIME },
    b: { words: "Bandwidth of a rank, b", from: 80, to: 120, at: 104, units: RATE, most: 9e11 },
    inside: { words: "Bandwidth inside a host", from: 80, to: 120, at: 116, units: RATE, most: 9e11 },
  };
  const HOSTS = [1, 2, 4, 8, 16, 32, 64];

  const ring = (n, S, alpha, b) => 2 * (n - 1) * (alpha + S / n / b);
  const ALGORITHMS = {
    star: ({ n, S, alpha, b }) => 2 * (n - 1) * (alpha + S / b),
    tree: ({ n, S, alpha, b }) => 2 * Math.ceil(Math.log2(n)) * (alpha + S / b),
    ring: ({ n, S, alpha, b }) => ring(n, S, alpha, b),
    hierarchical: ({ S, alpha, b, inside, r, N }) => ring(r, S, alpha, inside) + ring(N, S / r, alpha, b),
    "n servers": ({ n, S, alpha, b }) => 2 * n * (alpha + S / n / b),
  };

  // Return the value at a place of a slider, rounded to two digits; ranks are whole.
  function valueAt({ units, most = Infinity }, place) {
    const value = Math.min(most, Number((10 ** (place / 10)).toPrecision(2)));
    return units === COUNT ? Math.round(value) : value;
  }

  function quantity(value, units, digits) {
    const known = Object.entries(units);
    const [unit, factor] = known.find(([, size]) => value >= size) || known.at(-1);
    return `${Number((value / factor).toPrecision(digits)).toLocaleString("en")} ${unit}`.trim();
  }

  // Return where on the scale a time lies, as a percentage of its length.
  function percent(seconds) {
    const share = Math.log10(seconds / FIRST) / Math.log10(LAST / FIRST);
    return `${100 * Math.min(1, Math.max(0.005, share))}%`;
  }

  // Return the row of an algorithm: its name, its bar, its time.
  function algorithmRow(name, seconds, fastest) {
    const bar = make("span", { class: seconds > LAST ? "bar beyond" : "bar" });
    bar.style.width = percent(seconds);
    const time = make("td", {}, quantity(seconds, TIME, 3));
    return make("tr", fastest ? { class: "fastest" } : {}, make("th", { scope: "row" }, name), make("td", {}, bar), time);
  }

  // Return the row of the scale below the bars.
  function scaleRow() {
    const marks = [1e-6, 1e-3, 1].map((seconds) => {
      const mark = make("span", {}, quantity(seconds, TIME, 1));
      mark.style.left = percent(seconds);
      return mark;
    });
    return make("tr", { class: "scale", "aria-hidden": "true" }, make("td", {}), make("td", {}, ...marks), make("td", {}));
  }

  function told(times) {
    const least = Math.min(...Object.values(times));
    const names = Object.keys(times).filter((name) => times[name] === least);
    const [slowest, most] = Object.entries(times).reduce((one, other) => (other[1] > one[1] ? other : one));
    const ratio = Number((most / least).toPrecision(2)).toLocaleString("en");
    return `Fastest: ${names.join(" and ")}, ${quantity(least, TIME, 3)}. Slowest: ${slowest}, ${ratio} times as long.`;
  }

  function build() {
    const body = make("tbody", {});
    const words = make("p", { "aria-live": "polite" });
    const settings = {};
    const rows = Object.entries(SLIDERS).map(([key, slider]) => {
      const value = make("span", { class: "value", "aria-hidden": "true" });
      const moved = () => {
        settings[key] = valueAt(slider, Number(input.value));
        value.textContent = quantity(settings[key], slider.units, 2);
        input.setAttribute("aria-valuetext", value.textContent);
      };
      const ends = { min: slider.from, max: slider.to, value: slider.at };
      const input = make("input", { type: "range", name: key, ...ends, input: () => (moved(), show()) });
      moved();
      return make("div", {}, make("label", {}, make("span", {}, slider.words), input), value);
    });
    const choices = HOSTS.map((size) => make("option", size === 8 ? { selected: "" } : {}, String(size)));
    const hosts = make("span", { class: "value" });
    const size = make("select", { name: "r", change: () => show() }, ...choices);
    rows.push(make("div", {}, make("label", {}, make("span", {}, "Ranks a host, r"), size), hosts));

    function show() {
      const r = Math.min(Number(size.value), settings.n);
      const N = Math.ceil(settings.n / r);
      hosts.textContent = `${N.toLocaleString("en")} host${N > 1 ? "s" : ""}`;
      const times = Object.fromEntries(
        Object.entries(ALGORITHMS).map(([name, time]) => [name, time({ ...settings, r, N })]),
      );
      const least = Math.min(...Object.values(times));
      const bars = Object.entries(times).map(([name, seconds]) => algorithmRow(name, seconds, seconds === least));
      body.replaceChildren(...bars, scaleRow());
      words.textContent = told(times);
    }

    show();
    const table = make("table", { "aria-label": "Time of an all-reduce by each algorithm" }, body);
    return [make("div", { class: "controls" }, ...rows), table, words];
  }

  replace("costs", build);
}
