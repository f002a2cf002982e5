// The page of an evaluation from logs.

const FOUND = DATA.found;
const what = DATA.versus === null ? "value" : DATA.versus === "logged" ? "gain over the policy that logged" : "gain over the baseline";
const sure = percent(1 - DATA.failure_prob);
const several = POLICIES.length > 1;

document.getElementById("top").append(make("div", { class: "hero" },
  make("h1", {}, DATA.name),
  make("p", {}, `${several ? `${POLICIES.length} policies` : POLICIES[0].name}, ${count(FOUND[0].n, "logged decision")}. Each interval is true at all times at once with probability ${sure}: look, and stop, whenever you like.`),
  DATA.notes.map((note) => make("div", { class: "state lacking" }, note))));

document.getElementById("top").append(make("div", { class: "winners" }, POLICIES.map((policy, i) =>
  make("div", { class: "winner" },
    make("div", { class: "who" }, swatch(i), policy.name),
    make("div", { class: "big" }, show(FOUND[i].estimate), make("small", {}, what)),
    make("div", { class: "than" }, `between ${show(FOUND[i].lower)} and ${show(FOUND[i].upper)}`)))));

const chart = new LineChart({ title: "", xLabel: "rows", yLabel: what, logX: true, ends: true, height: 420, series: () => [
  ...POLICIES.map((policy, i) => ({ name: policy.name, label: policy.name, colour: colourOf(i), dash: dashOf(i), x: FOUND[i].x, mean: FOUND[i].mean, low: FOUND[i].low, high: FOUND[i].high })),
  ...(DATA.versus === null ? [] : [{ name: "no difference", label: "", colour: "var(--ink)", width: 1, faint: true, x: [FOUND[0].x[0], FOUND[0].n], mean: [0, 0] }]),
] });
section("rows", "Over the rows", `Estimate (${DATA.estimator}) and interval after so many rows.${DATA.versus === null ? "" : " Above zero: better."}`,
  make("div", { class: "charts one" }, chart.element), make("p", { class: "hint" }, "Hover to read values; drag to zoom, double-click to go back."));

const heads = ["policy", DATA.versus === null ? "value" : "gain", "interval", "rows", "worth rows", "largest weight", "e-value"];
section("numbers", "Numbers", "Worth rows: so many of equal weight say as much. The e-value tests the propensities: with right ones it reaches 100 once in a hundred logs.",
  make("div", { class: "scroll" }, make("table", { class: "data" },
    make("thead", {}, make("tr", {}, heads.map((head, i) => make("th", { class: i ? "n" : null, scope: "col" }, head)))),
    make("tbody", {}, POLICIES.map((policy, i) => {
      const f = FOUND[i];
      const cells = [[swatch(i), policy.name], show(f.estimate), `${show(f.lower)} – ${show(f.upper)}`, show(f.n, 9), show(f.effective_n), show(f.max_weight),
        make("span", { class: f.suspicion ? "warn" : null }, show(f.weight_evalue))];
      return make("tr", {}, cells.map((cell, j) => make("td", { class: j ? "n" : null }, cell)));
    })))),
  FOUND.map((f, i) => (f.suspicion ? make("p", { class: "warn" }, `${POLICIES[i].name}: the propensities are wrong: ${f.suspicion}.`) : null)));

section("valid", "When it is true", null, make("ul", {},
  make("li", {}, "The propensities are those with which the logged arms were drawn."),
  make("li", {}, "The policy has not learnt from these rows, and rows were not left out because of their rewards."),
  make("li", {}, "Rows are in the order of their decisions. The logging policy may have learnt, and the world may have changed: then the value is the mean over the rows.")));
