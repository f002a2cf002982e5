// The theatre: confidence sets in the plane, round by round.

const SIZE = 240; // of a scene, in its own units
const WHOLE = 1.12; // half the width of a view of the unit ball

/** Area of polygons of which members lie within an odd number: holes run the other way round. */
function areaOf(polygons) {
  let twice = 0;
  for (const p of polygons) for (let i = 0; i < p.length; i += 2) {
    const j = (i + 2) % p.length;
    twice += p[i] * p[j + 1] - p[j] * p[i + 1];
  }
  return Math.abs(twice) / 2;
}

/** One policy on one problem: draws its picture of a moment. */
class Scene {
  constructor(run) {
    this.run = run;
    this.plot = make("svg", { viewBox: `0 0 ${SIZE} ${SIZE}`, role: "img", "aria-label": `Confidence set of ${POLICIES[run.policy].name}` });
    this.area = make("span");
    this.regret = make("span");
    this.mark = make("span", { class: "warn" });
    this.larger = make("span", { class: "larger" });
    this.element = make("div", { class: "scene", "data-policy": POLICIES[run.policy].name },
      make("div", { class: "scene-head" }, make("span", {}, swatch(run.policy), POLICIES[run.policy].name), this.mark, this.larger),
      this.plot, make("div", { class: "numbers" }, this.area, this.regret));
  }

  /** The latest picture at or before a round. */
  frame(round) {
    let found = this.run.frames[0];
    for (const frame of this.run.frames) if (frame.round <= round) found = frame;
    return found;
  }

  /** How far the set reaches from theta*. */
  reach(round) {
    const [a, b] = this.run.theta_star;
    let most = 0;
    for (const p of this.frame(round).polygons) for (let i = 0; i < p.length; i += 2) most = Math.max(most, Math.hypot(p[i] - a, p[i + 1] - b));
    return most;
  }

  /** The whole ball, or what is about the set. */
  draw(round, closeUp) {
    const { run } = this;
    const reach = Math.max(1.2 * this.reach(round), 1e-9);
    const near = closeUp && this.frame(round).polygons.length && reach < WHOLE;
    const view = near ? { center: run.theta_star, half: reach } : { center: [0, 0], half: WHOLE };
    this.larger.textContent = near ? `${show(WHOLE / reach, 2)}× larger` : "";
    const frame = this.frame(round);
    const colour = colourOf(run.policy);
    const unit = SIZE / (2 * view.half);
    const x = (value) => (value - view.center[0]) * unit + SIZE / 2;
    const y = (value) => SIZE / 2 - (value - view.center[1]) * unit;
    const shape = frame.polygons.map((p) => {
      const corners = [];
      for (let i = 0; i < p.length; i += 2) corners.push(`${x(p[i]).toFixed(2)},${y(p[i + 1]).toFixed(2)}`);
      return `M${corners.join("L")}Z`;
    }).join("");
    const arms = run.arms[frame.arms];
    const [px, py] = [arms[2 * frame.choice], arms[2 * frame.choice + 1]];
    const drawing = make("g", {},
      make("circle", { cx: x(0), cy: y(0), r: unit, fill: "var(--card)", stroke: "var(--line)", "stroke-width": 1 }),
      make("path", { class: "set", d: shape, fill: colour, "fill-opacity": 0.34, "fill-rule": "evenodd", stroke: colour, "stroke-width": 1.8, "stroke-linejoin": "round" }));
    for (let i = 0; i < arms.length; i += 2) drawing.append(make("circle", { cx: x(arms[i]), cy: y(arms[i + 1]), r: 2.4, fill: "var(--pale)" }));
    drawing.append(make("line", { x1: x(0), y1: y(0), x2: x(px), y2: y(py), stroke: "var(--ink)", "stroke-width": 1.3, "stroke-opacity": 0.55 }),
      make("circle", { class: "played", cx: x(px), cy: y(py), r: 5, fill: "var(--ink)", stroke: "var(--card)", "stroke-width": 1.5 }));
    if (frame.center) {
      const [cx, cy] = [x(frame.center[0]), y(frame.center[1])];
      drawing.append(make("path", { d: `M${cx - 4} ${cy}H${cx + 4}M${cx} ${cy - 4}V${cy + 4}`, stroke: colour, "stroke-width": 2 }));
    }
    drawing.append(star(x(run.theta_star[0]), y(run.theta_star[1])));
    this.plot.replaceChildren(drawing);
    this.mark.textContent = frame.in_set === false ? "θ* is outside" : "";
    this.area.textContent = frame.polygons.length ? `area ${show(areaOf(frame.polygons), 2)}` : frame.center ? "too small to draw" : "keeps no set";
    this.regret.textContent = `regret ${show(frame.regret)}`;
  }
}

/** A five-pointed star. */
function star(x, y, size = 7.5) {
  const corners = [];
  for (let k = 0; k < 10; k += 1) {
    const radius = k % 2 ? size * 0.42 : size;
    const angle = (k * Math.PI) / 5 - Math.PI / 2;
    corners.push(`${(x + radius * Math.cos(angle)).toFixed(2)},${(y + radius * Math.sin(angle)).toFixed(2)}`);
  }
  return make("path", { d: `M${corners.join("L")}Z`, fill: "#ffc933", stroke: "var(--ink)", "stroke-width": 1.1, "stroke-linejoin": "round" });
}

/** Player and scenes: an act per problem. */
function theatre() {
  const runs = DATA.theatre;
  const rounds = [...new Set(runs.flatMap((run) => run.frames.map((frame) => frame.round)))].sort((a, b) => a - b);
  const problems = [...new Set(runs.map((run) => run.problem))].sort((a, b) => a - b);
  let shown = problems.length <= 2 ? -1 : problems[0];
  let closeUp = false, timer = null;
  const acts = problems.map((problem) => {
    const first = new Map();
    for (const run of runs) if (run.problem === problem && !first.has(run.policy)) first.set(run.policy, new Scene(run));
    const scenes = [...first.values()];
    return { problem, scenes, element: make("div", { class: "act" }, make("h3", {}, PROBLEMS[problem].name), make("div", { class: "scenes" }, scenes.map((scene) => scene.element))) };
  });
  const slider = make("input", { type: "range", min: 0, max: rounds.length - 1, value: 0, step: 1, "aria-label": "Round", oninput: () => { pause(); draw(); } });
  const where = make("output", {});
  const go = (place) => { slider.value = String(Math.max(0, Math.min(rounds.length - 1, place))); draw(); };
  const draw = () => {
    const round = rounds[Number(slider.value)];
    where.textContent = `round ${round.toLocaleString("en-US")}`;
    for (const act of acts) {
      act.element.hidden = shown >= 0 && act.problem !== shown;
      if (act.element.hidden) continue;
      const visible = act.scenes.filter((scene) => !state.hidden.has(scene.run.policy));
      for (const scene of act.scenes) scene.element.hidden = state.hidden.has(scene.run.policy);
      for (const scene of visible) scene.draw(round, closeUp);
    }
  };
  const pause = () => { clearInterval(timer); timer = null; play.textContent = "Play"; };
  const play = make("button", { type: "button", class: "button main", onclick: () => {
    if (timer) { pause(); return; }
    if (Number(slider.value) >= rounds.length - 1) go(0);
    play.textContent = "Pause";
    timer = setInterval(() => {
      go(Number(slider.value) + 1);
      if (Number(slider.value) >= rounds.length - 1) pause();
    }, 320);
  } }, "Play");
  const player = make("div", { class: "player" }, play,
    make("button", { type: "button", class: "button", "aria-label": "One picture back", onclick: () => { pause(); go(Number(slider.value) - 1); } }, "‹"),
    make("button", { type: "button", class: "button", "aria-label": "One picture on", onclick: () => { pause(); go(Number(slider.value) + 1); } }, "›"),
    slider, where,
    toggle("close-up", false, (on) => { closeUp = on; draw(); }, "Follow each set as it shrinks about θ*"),
    problems.length > 1 ? choice("Problem", [[-1, "all problems"], ...problems.map((p) => [p, PROBLEMS[p].name])], shown, (p) => { shown = p; draw(); }).element : null);
  const small = (...children) => make("svg", { width: 16, height: 16, viewBox: "0 0 16 16", "aria-hidden": "true" }, children);
  const keys = make("div", { class: "keys" },
    make("span", {}, small(star(8, 8, 7)), "θ*, which nobody is told"),
    make("span", {}, small(make("path", { d: "M3 8H13M8 3V13", stroke: "var(--accent)", "stroke-width": 2 })), "the policy's estimate"),
    make("span", {}, small(make("circle", { cx: 8, cy: 8, r: 2.4, fill: "var(--pale)" })), "arms"),
    make("span", {}, small(make("circle", { cx: 8, cy: 8, r: 5, fill: "var(--ink)" })), "the arm played"),
    make("span", {}, small(make("circle", { cx: 8, cy: 8, r: 7, fill: "none", stroke: "var(--line)" })), "the unit ball"));
  state.follow(draw);
  go(Math.round(rounds.length * 0.5));
  return [player, make("div", { class: "stage" }, acts.map((act) => act.element)), keys];
}
