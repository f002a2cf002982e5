// The headline table, and the matrix of problems and policies.

/** Show a cell in the drill-down. */
function drillTo(problem, policy, scroll = true) {
  state.cell = { problem, policy };
  state.changed();
  if (scroll) document.getElementById("cell").scrollIntoView();
}

/** The sortable table; rows of one problem or of all. */
function headline() {
  const step = DATA.step;
  const reference = POLICIES[DATA.reference].name;
  const text = (row) => [PROBLEMS[row.problem].name, POLICIES[row.policy].name];
  const hasCoverage = ROWS.some((row) => row.coverage !== null);
  const columns = [
    { key: "problem", head: "problem", of: (row) => row.problem, cell: (row) => text(row)[0] },
    { key: "policy", head: "policy", of: (row) => text(row)[1], cell: (row) => [swatch(row.policy), text(row)[1], BEST.get(row.problem) === row ? [" ", make("span", { class: "badge" }, "best")] : null] },
    { key: "regret", head: "mean regret", number: true, of: (row) => row.regret, cell: (row) => show(row.regret) },
    { key: "interval", head: "interval", number: true, of: (row) => row.regret_high - row.regret_low, cell: (row) => make("span", { class: "range" }, row.regret_low === null ? "–" : `${show(row.regret_low)} – ${show(row.regret_high)}`) },
    { key: "ratio", head: `× ${reference}`, number: true, of: (row) => row.ratio, cell: (row) => times(row.ratio) },
    hasCoverage ? { key: "coverage", head: "coverage", number: true, of: (row) => row.coverage, cell: (row) => {
      const promise = POLICIES[row.policy].promise;
      return make("span", { class: row.coverage !== null && promise !== null && row.coverage < promise - 1e-9 ? "warn" : null }, percent(row.coverage));
    } } : null,
    ROWS.some((row) => row.alarms > 0) ? { key: "alarms", head: "alarms", number: true, of: (row) => row.alarms, cell: (row) => show(row.alarms) } : null,
    { key: "time", head: `µs a ${step}`, number: true, of: (row) => row.time_per_step, cell: (row) => show(row.time_per_step) },
    { key: "runs", head: "runs", number: true, of: (row) => row.runs, cell: (row) => String(row.runs) },
  ].filter(Boolean);
  let sort = { key: "problem", down: false };
  let shown = ROWS.length <= 40 ? -1 : ROWS[0].problem;
  const body = make("tbody");
  const heads = columns.map((column) => make("th", { class: column.number ? "n" : null, "data-key": column.key, scope: "col" },
    make("button", { type: "button", onclick: () => {
      sort = { key: column.key, down: sort.key === column.key ? !sort.down : false };
      draw();
    } }, column.head)));
  const draw = () => {
    const by = columns.find((column) => column.key === sort.key).of;
    const rows = ROWS.filter((row) => shown < 0 || row.problem === shown);
    const order = (a, b) => {
      const [u, v] = [by(a), by(b)];
      if (u === null || v === null) return (u === null) - (v === null);
      return (u < v ? -1 : u > v ? 1 : 0) * (sort.down ? -1 : 1);
    };
    rows.sort((a, b) => order(a, b) || a.problem - b.problem || a.regret - b.regret);
    heads.forEach((head, i) => head.setAttribute("aria-sort", columns[i].key !== sort.key ? "none" : sort.down ? "descending" : "ascending"));
    body.replaceChildren(...rows.map((row, i) => make("tr", {
      class: sort.key === "problem" && i && rows[i - 1].problem !== row.problem ? "turn" : null,
      "data-problem": row.problem, "data-policy": row.policy, onclick: () => drillTo(row.problem, row.policy),
    }, columns.map((column) => make("td", { class: column.number ? "n" : null, "data-key": column.key }, column.cell(row))))));
  };
  draw();
  const names = [...new Set(ROWS.map((row) => row.problem))].sort((a, b) => a - b);
  const controls = names.length > 1 ? make("div", { class: "controls" },
    choice("Problem", [[-1, "all problems"], ...names.map((p) => [p, PROBLEMS[p].name])], shown, (p) => { shown = p; draw(); }).element) : null;
  return [controls, make("div", { class: "scroll" }, make("table", { class: "data", id: "headline-table" }, make("thead", {}, make("tr", {}, heads)), body))];
}

/** Ratio to the reference: a row per policy, best first, a column per problem. */
function matrix() {
  const problems = [...new Set(ROWS.map((row) => row.problem))].sort((a, b) => a - b);
  const shade = (value) => {
    const octaves = Math.max(-3, Math.min(3, value > 0 ? Math.log2(value) : -3));
    const share = Math.round(Math.abs(octaves) / 3 * 62);
    return `background:color-mix(in srgb, ${octaves < 0 ? "#2f7fd1" : "#e07b1f"} ${share}%, var(--sunk))`;
  };
  const at = new Map(ROWS.map((row) => [`${row.problem} ${row.policy}`, row]));
  return make("div", { class: "scroll" }, make("table", { class: "matrix" },
    make("thead", {}, make("tr", {}, make("th", {}, ""), make("th", { style: "padding-right:12px;text-align:right" }, "typical"),
      problems.map((p) => make("th", { scope: "col" }, make("div", {}, PROBLEMS[p].name))))),
    make("tbody", {}, DATA.typical.policy.map((policy, i) => make("tr", {},
      make("th", { scope: "row", title: POLICIES[policy].name }, swatch(policy), POLICIES[policy].name),
      make("td", { class: "typical" }, DATA.typical.ratio[i] === null ? "–" : ratio(DATA.typical.ratio[i])),
      problems.map((problem) => {
        const row = at.get(`${problem} ${policy}`);
        if (!row || row.ratio === null) return make("td", { class: "none" }, "");
        return make("td", { style: shade(row.ratio), title: `${POLICIES[policy].name} · ${PROBLEMS[problem].name}: regret ${show(row.regret)}`, onclick: () => drillTo(problem, policy) },
          ratio(row.ratio));
      }))))));
}
