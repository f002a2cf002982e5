// The page from top to bottom.

const main = document.getElementById("top");
const STEP = DATA.step;
const shownProblems = [...new Set(ROWS.map((row) => row.problem))].sort((a, b) => a - b);
const visible = (policy) => !state.hidden.has(policy);

// --- what was run -----------------------------------------------------------------------------

const lengths = [...new Set(PROBLEMS.map((problem) => problem.length))].sort((a, b) => a - b);
const lengthText = lengths.length === 1 ? count(lengths[0], STEP) : `${lengths[0].toLocaleString("en-US")} to ${count(lengths[lengths.length - 1], STEP)}`;
const policyNoun = POLICIES.length === 1 ? "1 policy" : `${POLICIES.length} policies`;
const { missing } = DATA;
const lacking = missing.declared - missing.stored;
main.append(make("div", { class: "hero" },
  make("h1", {}, DATA.name),
  make("p", {}, `${policyNoun} on ${count(PROBLEMS.length, "problem")}, ${count(DATA.replicates, "seed")} each, ${lengthText} a run.`),
  make("div", { class: lacking ? "state lacking" : "state" }, lacking
    ? make("a", { href: "#missing" }, `${missing.stored.toLocaleString("en-US")} of ${count(missing.declared, "run")} stored: ${lacking.toLocaleString("en-US")} missing${missing.failed ? `, ${missing.failed} of them failed` : ""}`)
    : `all ${count(missing.declared, "run")} stored`)));

// --- the headline -----------------------------------------------------------------------------

const reference = POLICIES[DATA.reference].name;
if (shownProblems.length <= 6) {
  main.append(make("div", { class: "winners" }, shownProblems.map((problem) => {
    const best = BEST.get(problem);
    return make("button", { type: "button", class: "winner", onclick: () => drillTo(problem, best.policy) },
      make("div", { class: "where" }, PROBLEMS[problem].name),
      make("div", { class: "who" }, swatch(best.policy), POLICIES[best.policy].name),
      make("div", { class: "big" }, show(best.regret), make("small", {}, "mean regret")),
      make("div", { class: "than" }, best.policy === DATA.reference || best.ratio === null ? "the least of all" : `${times(best.ratio)} that of ${reference}`));
  })));
}
const alarms = ROWS.some((row) => row.alarms > 0) ? " Alarms: their mean number in a run." : "";
const interval = ROWS.some((row) => row.runs > 1) ? " Intervals: 95 %, by the bootstrap over the seeds." : "";
section("results", "Results", `Regret after the last ${STEP}, mean over the seeds; lower is better. Click a row to look into it.${interval}${alarms}`, headline());

if (shownProblems.length > 2) {
  section("overview", "Overview", `Mean regret relative to ${reference}: blue is better, orange is worse. “Typical” is the geometric mean over the problems. Click a cell to look into it.`, matrix());
}

// --- curves -----------------------------------------------------------------------------------

/** A policy's line in a chart. */
const lineOf = (policy, x, line) => ({
  name: POLICIES[policy].name, label: POLICIES[policy].name, colour: colourOf(policy), dash: dashOf(policy),
  x, mean: line.mean, low: line.low, high: line.high, alarms: line.alarms,
});
const curvesOf = (problem) => DATA.curves.cells
  .filter((cell) => cell.problem === problem && visible(cell.policy))
  .map((cell) => lineOf(cell.policy, DATA.curves.steps[cell.steps], cell));
const ALARMS = DATA.curves.cells.some((cell) => cell.alarms) ? " A triangle: some seed raised an alarm there." : "";
const HINT = "Hover to read values; drag to zoom, double-click to go back. Click a policy to hide it, double-click to see it alone.";

if (POLICIES.length > 10) {
  // The best few and the reference; the reader adds others.
  const kept = new Set([...DATA.typical.policy.slice(0, 8), DATA.reference]);
  state.hidden = new Set(POLICIES.map((_, policy) => policy).filter((policy) => !kept.has(policy)));
}
const bandsToggle = () => toggle("intervals", state.bands, (on) => { state.bands = on; state.changed(); }, "Bands about the means");
const some = POLICIES.length > 10 ? ` Shown are the best overall and ${reference}; click a name to add it.` : "";
if (shownProblems.length <= 4) {
  const charts = shownProblems.map((problem) => new LineChart({ title: PROBLEMS[problem].name, xLabel: STEP, yLabel: "cumulative regret", series: () => curvesOf(problem) }));
  section("curves", "Regret", `Cumulative regret over the ${STEP}s, mean and interval.${ALARMS}${some}`, legend(bandsToggle()),
    make("div", { class: shownProblems.length === 1 ? "charts one" : "charts" }, charts.map((chart) => chart.element)), make("p", { class: "hint" }, HINT));
} else {
  let problem = shownProblems[0];
  const chart = new LineChart({ title: PROBLEMS[problem].name, xLabel: STEP, yLabel: "cumulative regret", height: 420, series: () => curvesOf(problem) });
  const pick = choice("Problem", shownProblems.map((p) => [p, PROBLEMS[p].name]), problem, (p) => { problem = p; chart.title(PROBLEMS[p].name); chart.zoomTo(null); });
  section("curves", "Regret", `Cumulative regret over the ${STEP}s, mean and interval.${ALARMS}${some}`, make("div", { class: "controls" }, pick.element), legend(bandsToggle()),
    make("div", { class: "charts one" }, chart.element), make("p", { class: "hint" }, HINT));
}

// --- variance and horizon ---------------------------------------------------------------------

const panelLines = (panel, letter) => panel.lines.filter((line) => visible(line.policy)).map((line) => {
  const grows = letter && line.exponent !== null ? ` ∝ ${letter}^${line.exponent.toFixed(2)}` : "";
  const drawn = lineOf(line.policy, line.x, line);
  return { ...drawn, label: `${drawn.label}${grows}` };
});

if (DATA.variance.length) {
  const charts = DATA.variance.map((panel) => new LineChart({ title: panel.title, xLabel: "root of the sum of variances", yLabel: "final regret", markers: true, series: () => panelLines(panel) }));
  section("variance", "Noise", "Final regret against the root of the sum of the noise's variances: what a variance-aware bound is about. A policy that adapts rises from near the origin; one that does not is flat.", legend(),
    make("div", { class: charts.length === 1 ? "charts one" : "charts" }, charts.map((chart) => chart.element)));
}
if (DATA.horizon.length) {
  const charts = DATA.horizon.map((panel) => new LineChart({ title: panel.title, xLabel: "horizon H", yLabel: "final regret", markers: true, logX: true, logY: true,
    xTicks: [...new Set(panel.lines.flatMap((line) => line.x))], series: () => panelLines(panel, "H") }));
  section("horizon", "Horizon", "Final regret against the horizon, both axes logarithmic; other parameters of the problems are pooled. Flat lines are free of the horizon; the exponents are slopes of these lines.", legend(),
    make("div", { class: charts.length === 1 ? "charts one" : "charts" }, charts.map((chart) => chart.element)));
}

// --- widths -----------------------------------------------------------------------------------

const widthsOf = (problem) => DATA.widths.cells
  .filter((cell) => cell.problem === problem && visible(cell.policy))
  .map((cell) => lineOf(cell.policy, DATA.widths.steps[cell.steps], cell));
const measured = shownProblems.filter((problem) => DATA.widths.cells.some((cell) => cell.problem === problem));
if (measured.length) {
  const title = "Width";
  const lead = `How sure each policy is: the mean width of its confidence set where it plays, both axes logarithmic. Faster shrinking means less regret.`;
  const axes = { xLabel: STEP, yLabel: "width", logX: true, logY: true };
  if (measured.length <= 4) {
    const charts = measured.map((problem) => new LineChart({ ...axes, title: PROBLEMS[problem].name, series: () => widthsOf(problem) }));
    section("width", title, lead, legend(), make("div", { class: measured.length === 1 ? "charts one" : "charts" }, charts.map((chart) => chart.element)));
  } else {
    let problem = measured[0];
    const chart = new LineChart({ ...axes, title: PROBLEMS[problem].name, height: 420, series: () => widthsOf(problem) });
    const pick = choice("Problem", measured.map((p) => [p, PROBLEMS[p].name]), problem, (p) => { problem = p; chart.title(PROBLEMS[p].name); chart.zoomTo(null); });
    section("width", title, lead, make("div", { class: "controls" }, pick.element), legend(), make("div", { class: "charts one" }, chart.element));
  }
}

// --- the theatre ------------------------------------------------------------------------------

if (DATA.theatre.length) {
  section("theatre", "Theatre", `What each policy still believes, round by round: its confidence set in the plane before it plays (seed ${DATA.theatre[0].replicate}). Optimism plays the arm that reaches furthest over the set; the set shrinks, and fastest where the noise is small and the policy notices.`, theatre());
}

// --- one cell ---------------------------------------------------------------------------------

{
  state.cell = { problem: ROWS[0].problem, policy: BEST.get(ROWS[0].problem).policy };
  const present = POLICIES.map((_, policy) => policy).filter((policy) => ROWS.some((row) => row.policy === policy));
  const numbers = make("dl");
  const note = make("p", { class: "hint" });
  const series = () => {
    const { problem, policy } = state.cell;
    const cell = cellOf(problem, policy);
    if (!cell) return [];
    const x = DATA.curves.steps[cell.steps];
    const seeds = Object.entries(cell.seeds || {}).map(([seed, mean]) => ({ name: `seed ${seed}`, colour: colourOf(policy), width: 1, faint: true, x, mean }));
    return [...seeds, { ...lineOf(policy, x, cell), name: "mean", label: "mean", dash: "", width: 2.6 }];
  };
  const chart = new LineChart({ title: "", xLabel: STEP, yLabel: "cumulative regret", height: 360, series });
  const pickProblem = choice("Problem", shownProblems.map((p) => [p, PROBLEMS[p].name]), state.cell.problem, (p) => drillTo(p, state.cell.policy, false));
  const pickPolicy = choice("Policy", present.map((p) => [p, POLICIES[p].name]), state.cell.policy, (p) => drillTo(state.cell.problem, p, false));
  let last = null;
  const draw = () => {
    const { problem, policy } = state.cell;
    if (last && last.problem === problem && last.policy === policy) return;
    last = { problem, policy };
    pickProblem.select.value = String(problem);
    pickPolicy.select.value = String(policy);
    const row = rowOf(problem, policy);
    const cell = cellOf(problem, policy);
    const line = (name, value) => [make("dt", {}, name), make("dd", {}, value)];
    const params = (side) => Object.entries(side.params).flatMap(([name, value]) => line(name, value));
    chart.title(`${POLICIES[policy].name} on ${PROBLEMS[problem].name}`);
    chart.zoomTo(null);
    numbers.replaceChildren(...(row ? [
      make("h3", {}, `After the last ${STEP}`),
      ...line("mean regret", show(row.regret)),
      ...line("interval", row.regret_low === null ? "–" : `${show(row.regret_low)} – ${show(row.regret_high)}`),
      ...line("least, median, most", `${show(row.least)}, ${show(row.regret_median)}, ${show(row.most)}`),
      ...line(`ratio to ${reference}`, times(row.ratio)),
      ...(row.difference === null ? [] : [
        ...line(`minus ${reference}, paired`, row.difference_low === null ? show(row.difference) : `${show(row.difference)} [${show(row.difference_low)}, ${show(row.difference_high)}]`),
        ...line(`seeds better than ${reference}`, percent(row.won)),
      ]),
      ...(row.exponent === null ? [] : line("grows as", `${STEP}s^${row.exponent.toFixed(2)}${row.exponent_low === null ? "" : ` [${row.exponent_low.toFixed(2)}, ${row.exponent_high.toFixed(2)}]`}`)),
      ...line("coverage", row.coverage === null || row.coverage_low === null ? percent(row.coverage) : `${percent(row.coverage)} [${percent(row.coverage_low)}, ${percent(row.coverage_high)}]`),
      ...(row.alarms > 0 ? line("alarms a run", show(row.alarms)) : []),
      ...line(`µs a ${STEP}`, show(row.time_per_step)),
      ...line("runs", String(row.runs)),
    ] : [make("h3", {}, "No run of this cell is stored")]),
    make("h3", {}, "Problem"), ...line("family", PROBLEMS[problem].family), ...line(`${STEP}s`, PROBLEMS[problem].length.toLocaleString("en-US")), ...params(PROBLEMS[problem]),
    make("h3", {}, "Policy"), ...line("id", POLICIES[policy].id), ...params(POLICIES[policy]));
    const drawn = cell && cell.seeds ? Object.keys(cell.seeds).length : 0;
    note.textContent = row && drawn && drawn < row.runs ? `${drawn} of ${row.runs} seeds are drawn, evenly chosen; the mean and the numbers are of all.` : "";
  };
  state.follow(draw);
  section("cell", "One cell", "A policy on a problem, seed by seed.", make("div", { class: "controls" }, pickProblem.element, pickPolicy.element),
    make("div", { class: "drill" }, make("div", { style: "min-width:0" }, chart.element, note), numbers));
  draw();
}

// --- coverage and time ------------------------------------------------------------------------

const byPolicy = (dots, mark) => DATA.typical.policy.concat(POLICIES.map((_, p) => p).filter((p) => !DATA.typical.policy.includes(p)))
  .map((policy) => ({ policy, mark: mark ? mark(policy) : null, dots: ROWS.filter((row) => row.policy === policy).map(dots).filter((d) => d.value !== null) }))
  .filter((row) => row.dots.length);
if (ROWS.some((row) => row.coverage !== null)) {
  const least = Math.min(...ROWS.filter((row) => row.coverage !== null).map((row) => Math.min(row.coverage, row.coverage_low ?? 1)));
  const low = Math.max(0, Math.min(0.8, Math.floor((least - 0.02) * 10) / 10));
  const chart = new DotChart({ label: "runs in which θ* never left the set", limits: [low, 1], text: percent,
    rows: () => byPolicy((row) => ({ value: row.coverage, low: row.coverage_low, high: row.coverage_high, name: PROBLEMS[row.problem].name }), (policy) => POLICIES[policy].promise) });
  section("coverage", "Coverage", "The share of runs in which θ* was in the policy's set at every check, a dot per problem. The grey mark is what the policy promises, 1 − δ.", chart.element);
}
{
  const chart = new DotChart({ label: `µs a ${STEP}, median over the runs`, log: true, text: tickText,
    rows: () => byPolicy((row) => ({ value: row.time_per_step > 0 ? row.time_per_step : null, name: PROBLEMS[row.problem].name })) });
  section("time", "Time", `Microseconds spent in the policy a ${STEP}, a dot per problem; the axis is logarithmic. Measured while the study ran, on a machine that may have been busy.`, chart.element);
}

// --- what is missing --------------------------------------------------------------------------

if (lacking || missing.foreign) {
  const cells = missing.cells.map(([problem, policy, declared, stored, failed]) => make("tr", {},
    make("td", {}, PROBLEMS[problem].name), make("td", {}, swatch(policy), POLICIES[policy].name),
    make("td", { class: "n" }, String(declared)), make("td", { class: "n" }, String(stored)),
    make("td", { class: failed ? "n warn" : "n" }, String(failed))));
  const head = ["problem", "policy", "declared", "stored", "failed"].map((text, i) => make("th", { class: i > 1 ? "n" : null }, text));
  section("missing", "Missing", null,
    lacking ? make("p", { class: "lead" }, `${lacking.toLocaleString("en-US")} of ${count(missing.declared, "declared run")} ${lacking === 1 ? "is" : "are"} not stored. The numbers above are of those that are. The command below plays what is missing.`) : null,
    cells.length ? make("div", { class: "scroll" }, make("table", { class: "data still" }, make("thead", {}, make("tr", {}, head)), make("tbody", {}, cells))) : null,
    missing.foreign ? make("p", { class: "hint" }, `${count(missing.foreign, "stored run")} of an earlier form of the study or of the library: kept, and not part of these results.`) : null,
    missing.failures.map(([label, text]) => make("details", {}, make("summary", {}, `failed: ${label}`), make("pre", {}, text))),
    missing.failed > missing.failures.length ? make("p", { class: "hint" }, `and ${missing.failed - missing.failures.length} more; voful show lists them all.`) : null);
}

// --- how to repeat ----------------------------------------------------------------------------

{
  const { repeat } = DATA;
  const sessions = repeat.sessions.map((session) => make("tr", {},
    make("td", {}, session.started.replace("T", " ").replace("+00:00", " UTC")), make("td", { class: "n" }, session.runs.toLocaleString("en-US")),
    make("td", {}, `${session.backend}, ${count(session.workers, "worker")}`),
    make("td", { class: "wrap" }, Object.entries(session.versions).map(([name, version]) => `${name} ${version}`).join(", ")),
    make("td", { class: "wrap" }, session.platform || ""), make("td", {}, session.commit ? make("code", {}, session.commit.slice(0, 12)) : "–")));
  const head = ["started", "runs", "played by", "versions", "platform", "commit"].map((text, i) => make("th", { class: i === 1 ? "n" : null }, text));
  section("repeat", "Repeat", "The same command gives the same numbers, to the last bit on machines of one kind; measured times differ. It plays only what is not stored.",
    make("pre", {}, `${repeat.command}`),
    repeat.text ? make("details", {}, make("summary", {}, "The study"), make("pre", { id: "study-text" }, repeat.text)) : null,
    make("div", { class: "scroll" }, make("table", { class: "data still" }, make("thead", {}, make("tr", {}, head)), make("tbody", {}, sessions))));
}
state.changed();
