// A product in square tiles: which level holds three of them, and whether fetching, using or computing takes longest.
"use strict";

{
  const { make, replace, speaker } = explorable;
  const say = speaker(document.currentScript);
  const N = 4096; // the side of the matrices
  const PEAK = 114e9; // flop/s of the core
  // Bytes that a level holds and bytes/s that it delivers, from the core outwards.
  const LEVELS = [
    { name: say("L1 cache"), bytes: 2 ** 15, rate: 212e9 },
    { name: say("L2 cache"), bytes: 2 ** 20, rate: 112e9 },
    { name: say("L3 cache"), bytes: 2 ** 25, rate: 84e9 },
    { name: say("memory"), bytes: Infinity, rate: 27e9 },
  ];
  const SIDES = [1, 4, 16, 32, 64, 128, 256, 512, 1024, 2048];

  // Return the level that holds three tiles of this side, and the seconds of each part of the product.
  function parts(side) {
    const place = LEVELS.findIndex((level) => 12 * side ** 2 <= level.bytes);
    const holds = LEVELS[place];
    const fetched = holds === LEVELS.at(-1) ? [] : [(8 * N ** 3) / side];
    const rows = [
      { what: say("computing"), bytes: 0, seconds: (2 * N ** 3) / PEAK },
      { what: say("using tiles in: {level}", { level: holds.name }), ...moved(12 * N ** 3, holds) },
      ...fetched.map((bytes) => ({ what: say("fetching tiles from memory"), ...moved(bytes, LEVELS.at(-1)) })),
    ];
    return { holds, rows, longest: Math.max(...rows.map((row) => row.seconds)) };
  }

  const moved = (bytes, level) => ({ bytes, seconds: bytes / level.rate });
  const gigabytes = (bytes) => (bytes ? (bytes / 1e9).toPrecision(3) : "–");

  function build() {
    const options = SIDES.map((side) => make("option", side === 16 ? { selected: "" } : {}, String(side)));
    const sides = make("select", { change: () => show(Number(sides.value)) }, ...options);
    const body = make("tbody", {});
    const words = make("p", { "aria-live": "polite" });

    function show(side) {
      const { holds, rows, longest } = parts(side);
      const cells = ({ what, bytes, seconds }) => [
        make("th", { scope: "row" }, what),
        make("td", {}, gigabytes(bytes)),
        make("td", seconds === longest ? { class: "longest" } : {}, seconds.toPrecision(3)),
      ];
      body.replaceChildren(...rows.map((row) => make("tr", {}, ...cells(row))));
      const slowest = rows.find((row) => row.seconds === longest).what;
      words.textContent = [
        say("Three tiles take {bytes} KiB and fit in: {level}.", { bytes: (12 * side ** 2) / 1024, level: holds.name }),
        say(" Each byte serves {flops} flops. Longest: {slowest}.", { flops: side / 4, slowest }),
      ].join("");
    }

    show(16);
    const titles = [say("part"), say("GB"), say("seconds")].map((title) => make("th", { scope: "col" }, title));
    const head = make("thead", {}, make("tr", {}, ...titles));
    const controls = make("div", { class: "controls" }, make("label", {}, say("Side of a tile "), sides));
    return [controls, make("table", { "aria-label": say("The time of each part") }, head, body), words];
  }

  replace("tiles", build);
}
