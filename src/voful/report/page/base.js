// Data, words and elements that every part of the page uses.

const DATA = JSON.parse(document.getElementById("data").textContent);
const POLICIES = DATA.policies;
const PROBLEMS = DATA.problems;

/** A new element: attributes by name, "on..." listeners, children as nodes or text. */
function make(tag, attributes = {}, ...children) {
  const space = make.svg.has(tag) ? "http://www.w3.org/2000/svg" : "http://www.w3.org/1999/xhtml";
  const element = document.createElementNS(space, tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value !== null && value !== undefined && value !== false) element.setAttribute(name, value);
  }
  element.append(...children.flat(4).filter((child) => child !== null && child !== undefined));
  return element;
}
make.svg = new Set(["svg", "g", "path", "line", "circle", "rect", "text", "clipPath", "defs", "title"]);

/** Black is the ink of the page, so that it is seen on dark as well. */
const colourOf = (policy) => (POLICIES[policy].colour === "#000000" ? "var(--ink)" : POLICIES[policy].colour);
const dashOf = (policy, scale = 1.6) => POLICIES[policy].dash.map((part) => part * scale).join(" ");

/** Three significant digits, with separators; very small and very large ones in powers of ten. */
function show(value, digits = 3) {
  if (value === null || value === undefined) return "–";
  const size = Math.abs(value);
  if (value !== 0 && (size < 1e-3 || size >= 1e7)) return value.toExponential(digits - 1).replace("e+", "e");
  const whole = size >= 1 ? Math.floor(Math.log10(size)) + 1 : 1;
  const places = value === 0 ? 0 : size < 1 ? Math.min(6, digits - 1 - Math.floor(Math.log10(size))) : Math.max(0, digits - whole);
  return value.toLocaleString("en-US", { maximumFractionDigits: places, minimumFractionDigits: size >= 1 && size < 100 ? Math.min(places, 1) : 0 });
}
const percent = (value) => (value === null || value === undefined ? "–" : `${+(100 * value).toFixed(1)}%`);
/** Two decimals where they say something. */
const ratio = (value) => (value >= 0.095 && value < 9.95 ? value.toFixed(2) : show(value, value < 1 ? 1 : 2));
const times = (value) => (value === null || value === undefined ? "–" : `${ratio(value)}×`);
const count = (n, noun) => `${n.toLocaleString("en-US")} ${noun}${n === 1 ? "" : "s"}`;

/** What the reader has chosen; `changed` tells those who `follow` it. */
const state = {
  hidden: new Set(),
  bands: true,
  cell: null,
  followers: [],
  follow(draw) { this.followers.push(draw); },
  changed() { for (const draw of this.followers) draw(); },
};

/** The rows of the headline table as objects, and where to find one. */
const ROWS = DATA.table.problem.map((_, i) =>
  Object.fromEntries(Object.entries(DATA.table).map(([name, column]) => [name, column[i]])));
const rowOf = (problem, policy) => ROWS.find((row) => row.problem === problem && row.policy === policy);
const BEST = new Map();
for (const row of ROWS) {
  const best = BEST.get(row.problem);
  if (!best || row.regret < best.regret) BEST.set(row.problem, row);
}
const cellOf = (problem, policy) => DATA.curves.cells.find((cell) => cell.problem === problem && cell.policy === policy);

/** A section of the page; nav gets a link to it. */
function section(id, title, lead, ...children) {
  const element = make("section", { id }, make("h2", {}, title), lead ? make("p", { class: "lead" }, lead) : null, children);
  document.getElementById("top").append(element);
  document.getElementById("nav").append(make("a", { href: `#${id}` }, title));
  return element;
}

/** A labelled choice; `choose` gets the index of the option. */
function choice(label, options, chosen, choose) {
  const select = make("select", { "aria-label": label, onchange: () => choose(Number(select.value)) },
    options.map(([value, text]) => make("option", { value, selected: value === chosen || null }, text)));
  return { element: make("label", { class: "field" }, label, select), select };
}

/** A button that is on or off. */
function toggle(text, on, flip, title) {
  const button = make("button", { type: "button", class: "button", "aria-pressed": String(on), title, onclick: () => {
    const now = button.getAttribute("aria-pressed") !== "true";
    button.setAttribute("aria-pressed", String(now));
    flip(now);
  } }, text);
  return button;
}

/** A policy's line, short: several share a colour and differ in their dashes. */
const swatch = (policy) => make("svg", { class: "swatch", width: 20, height: 8, "aria-hidden": "true" },
  make("path", { d: "M0 4H20", stroke: colourOf(policy), "stroke-width": 3, "stroke-dasharray": dashOf(policy, 1.2) || null }));

// --- light and dark ---------------------------------------------------------------------------

const darkWanted = matchMedia("(prefers-color-scheme: dark)");
let chosenTheme = null;
const paint = () => { document.documentElement.dataset.theme = chosenTheme || (darkWanted.matches ? "dark" : "light"); };
darkWanted.addEventListener("change", paint);
document.getElementById("theme").addEventListener("click", () => {
  chosenTheme = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
  paint();
});
paint();
