// The memory of a training step: state for each parameter, activations and logits for each example, and a card.
"use strict";

{
  const { bars, make, powers, quantity, replace, speaker } = explorable;
  const say = speaker(document.currentScript);
  const BYTES = { TB: 1e12, GB: 1e9, MB: 1e6, kB: 1e3 };
  const count = (number) => [number.toLocaleString("en"), number];
  const every = (k) => [say("every {k} layers", { k }), k];
  // The settings with a menu: its words, its entries with their values, and which of them stands there first.
  const MENUS = {
    layers: [say("Layers"), [4, 8, 16, 32, 64].map(count), 2],
    classes: [say("Classes"), [[say("none"), 0], count(1000), count(2 ** 15), count(2 ** 17)], 0],
    bits: [say("Numbers"), [["float32", 32], [say("mixed, 16 bits"), 16]], 0],
    state: [say("Optimiser"), [["SGD", 0], [say("with momentum"), 4], ["Adam", 8]], 2],
    every: [say("Checkpoints"), [[say("none"), 0], every(2), every(4), every(8)], 0],
    card: [say("Card"), [8, 16, 24, 40, 80, 141].map((size) => [`${size} GB`, size * 1e9]), 2],
  };

  // Return the bytes that the parameters take, each kind of them, and those that an example adds.
  function needs({ layers, width, classes, bits, state, every }) {
    const N = layers * width ** 2 + width * classes;
    const k = Math.min(every, layers);
    const arrays = every ? layers / k + k : layers + 1;
    const fixed = { weights: (bits === 16 ? 6 : 4) * N, gradients: 4 * N, optimiser: state * N };
    return { N, fixed, each: { activations: (bits / 8) * width * arrays, logits: 8 * classes } };
  }

  const total = (parts) => Object.values(parts).reduce((a, b) => a + b);

  function build() {
    const width = powers(say("Width"), "width", [8, 14, 12], () => show());
    const examples = powers(say("Examples"), "examples", [0, 20, 16], () => show());
    const menus = Object.entries(MENUS).map(([name, [words, entries, first]]) => {
      const options = entries.map(([entry], place) => make("option", place === first ? { selected: "" } : {}, entry));
      const menu = make("select", { name, change: () => show() }, ...options);
      const row = make("div", {}, make("label", {}, make("span", {}, words), menu), make("span", { class: "value" }));
      return { name, row, get: () => entries[menu.selectedIndex][1] };
    });
    const body = make("tbody", {});
    const words = make("p", { "aria-live": "polite" });

    function show() {
      const settings = Object.fromEntries(menus.map((menu) => [menu.name, menu.get()]));
      const { card } = settings;
      const { N, fixed, each } = needs({ ...settings, width: width.get() });
      const B = examples.get();
      const all = total(fixed) + B * total(each);
      const terms = [
        [say("weights"), fixed.weights],
        [say("gradients"), fixed.gradients],
        [say("optimiser"), fixed.optimiser],
        [say("activations"), B * each.activations],
        [say("logits"), B * each.logits],
        [say("together"), all, all > card ? "total beyond" : "total"],
        [say("card"), card, "total"],
      ];
      const found = terms.map(([name, size, kind]) => ({ name, size, kind, words: quantity(size, BYTES) }));
      body.replaceChildren(...bars(found, Math.max(all, card)));
      const most = Math.floor((card - total(fixed)) / total(each));
      const parameters = quantity(N, { "T": 1e12, "G": 1e9, "M": 1e6, "k": 1e3 });
      const fields = { parameters, card: quantity(card, BYTES), most: Math.max(most, 0).toLocaleString("en") };
      const fits = say("{parameters} parameters: this step fits; at most {most} examples do.", fields);
      const fewer = say("{parameters} parameters: this step does not fit; at most {most} examples do.", fields);
      const none = say("{parameters} parameters: what they need alone is more than {card}.", fields);
      words.textContent = all <= card ? fits : most > 0 ? fewer : none;
    }

    show();
    const rows = menus.map((menu) => menu.row);
    const controls = make("div", { class: "settings" }, width.row, examples.row, ...rows);
    return [controls, make("table", { class: "bars", "aria-label": say("What a step keeps") }, body), words];
  }

  replace("memory", build);
}
