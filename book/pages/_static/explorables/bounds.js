// The bounds on the time of a product: dispatch, bytes and flops, their longest and their sum, and the roofline.
"use strict";

{
  const { bars, draw, make, powers, quantity, replace, speaker } = explorable;
  const say = speaker(document.currentScript);
  const FIGURES = JSON.parse(document.currentScript.dataset.figures ?? "{}"); // of the machine, by framework
  const USUAL = { alpha: 1e-5, b: 5e10, P: 2e11 };
  const TIME = { s: 1, ms: 1e-3, µs: 1e-6 };
  const BYTES = { GB: 1e9, MB: 1e6, kB: 1e3 };
  const FLOPS = { Tflop: 1e12, Gflop: 1e9, Mflop: 1e6, kflop: 1e3 };
  const INPUTS = {
    alpha: { words: say("Dispatch α"), unit: "µs", size: 1e-6, most: 1e4 },
    b: { words: say("Bandwidth b"), unit: "GB/s", size: 1e9, most: 1e5 },
    P: { words: say("Peak P"), unit: "Gflop/s", size: 1e9, most: 1e7 },
  };
  const NAMES = { dispatch: say("dispatch"), memory: say("memory"), arithmetic: say("arithmetic") };
  const [WIDTH, HEIGHT, LEFT, BOTTOM] = [360, 190, 44, 34]; // of the drawing, and of its margins
  const [LEAST, MOST] = [0.1, 1e4]; // flops per byte at its ends

  // Return what a product of some rows and a square matrix needs: flops, bytes, and its three times.
  function product(rows, width, { alpha, b, P }) {
    const flops = 2 * rows * width ** 2;
    const moved = 4 * (width ** 2 + 2 * rows * width);
    return { flops, moved, times: { dispatch: alpha, memory: moved / b, arithmetic: flops / P } };
  }

  // Return the roofline, the decades around it, and where between its bounds the product lies.
  function roofline({ flops, moved, longest, sum }, { b, P }) {
    const top = 10 ** Math.ceil(Math.log10(P) + 0.1);
    const share = (value, least, most) => Math.log(value / least) / Math.log(most / least);
    const x = (intensity) => LEFT + share(intensity, LEAST, MOST) * (WIDTH - LEFT - 8);
    const y = (rate) => HEIGHT - BOTTOM - Math.max(0, share(rate, top / 1e6, top)) * (HEIGHT - BOTTOM - 18);
    const line = (kind, ...points) => draw("polyline", { class: kind, points: points.map(String).join(" ") });
    const mark = (value) => value.toLocaleString("en", { maximumSignificantDigits: 1 });
    const text = (words, at, to, anchor) => draw("text", { x: at, y: to, "text-anchor": anchor }, words);
    const end = { x: x(MOST), y: y(top / 1e6) };
    const tens = [0.1, 1, 10, 100, 1e3, 1e4];
    const rates = [1, 1e-2, 1e-4, 1e-6].map((part) => part * top);
    const place = x(flops / moved);
    const ridge = Math.min(MOST, Math.max(LEAST, P / b));
    return [
      ...tens.map((ten) => line("grid", [x(ten), y(top)], [x(ten), end.y])),
      ...tens.slice(0, -1).map((ten) => text(mark(ten), x(ten), HEIGHT - BOTTOM + 14, "middle")),
      ...rates.map((rate) => line("grid", [LEFT, y(rate)], [end.x, y(rate)])),
      ...rates.map((rate) => text(mark(rate / 1e9), LEFT - 4, y(rate) + 4, "end")),
      text(say("flops per byte"), (LEFT + WIDTH) / 2, HEIGHT - 4, "middle"),
      text("Gflop/s", 0, 11, "start"),
      line("roof", ...[LEAST, ridge, MOST].map((intensity) => [x(intensity), y(Math.min(P, b * intensity))])),
      line("between", [place, y(flops / longest)], [place, y(flops / sum)]),
      draw("circle", { class: "between", cx: place, cy: y(flops / longest), r: 4 }),
    ];
  }

  function build() {
    const root = document.documentElement;
    let typed = false;
    const shown = () => FIGURES[root.dataset.framework] ?? Object.values(FIGURES)[0] ?? USUAL;
    const figures = { ...shown() };
    const rows = powers(say("Rows"), "rows", [0, 12, 6], () => show());
    const width = powers(say("Width"), "width", [5, 13, 10], () => show());

    // A figure that is no number above 0 is marked, and the last good one holds.
    const numbers = Object.entries(INPUTS).map(([key, { words, unit, size, most }]) => {
      const changed = () => {
        const value = Number(input.value) * size;
        input.setAttribute("aria-invalid", String(!(value > 0)));
        if (!(value > 0)) return;
        [figures[key], typed] = [value, true];
        show();
      };
      const ends = { type: "number", name: key, min: 0, max: most, step: "any" };
      const input = make("input", { ...ends, input: changed });
      const fill = () => (input.value = Number((figures[key] / size).toPrecision(3)));
      const label = make("label", {}, make("span", {}, words), input);
      return { row: make("div", {}, label, make("span", { class: "value" }, unit)), fill };
    });
    const body = make("tbody", {});
    const drawing = draw("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img" });
    const words = make("p", { "aria-live": "polite" });
    const built = say("α, b and P are at first the figures of the machine that built this page; type in yours.");
    const source = Object.keys(FIGURES).length ? built : say("Type in the α, b and P of your machine.");

    function show() {
      const { flops, moved, times } = product(rows.get(), width.get(), figures);
      const [longest, sum] = [Math.max(...Object.values(times)), Object.values(times).reduce((a, b) => a + b)];
      const bound = NAMES[Object.keys(times).find((name) => times[name] === longest)];
      const terms = [
        [say("dispatch, α"), times.dispatch],
        [say("memory, S/b"), times.memory],
        [say("arithmetic, F/P"), times.arithmetic],
        [say("longest"), longest, "total"],
        [say("sum"), sum, "total"],
      ];
      const found = terms.map(([name, size, kind]) => {
        const most = kind ?? (size === longest ? "most" : "");
        return { name, size, kind: most, words: quantity(size, TIME) };
      });
      body.replaceChildren(...bars(found, sum));
      const fields = { flops: quantity(flops, FLOPS), moved: quantity(moved, BYTES), bound };
      const bounds = { ...fields, longest: quantity(longest, TIME), sum: quantity(sum, TIME) };
      words.textContent = say("{flops}, {moved}: between {longest} and {sum}. The longest: {bound}.", bounds);
      drawing.replaceChildren(...roofline({ flops, moved, longest, sum }, figures));
      drawing.setAttribute("aria-label", say("The roofline, and below it the product between its bounds"));
    }

    // The figures follow the framework that the page shows, until the reader has typed one.
    function take() {
      if (typed) return;
      Object.assign(figures, shown());
      for (const number of numbers) number.fill();
      show();
    }

    take();
    new MutationObserver(take).observe(root, { attributeFilter: ["data-framework"] });
    const controls = make("div", { class: "settings" }, rows.row, width.row, ...numbers.map((number) => number.row));
    const table = make("table", { class: "bars", "aria-label": say("The three times of the product") }, body);
    return [controls, make("p", { class: "source" }, source), table, words, drawing];
  }

  replace("bounds", build);
}
