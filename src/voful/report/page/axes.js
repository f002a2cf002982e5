// Scales and ticks.

/** A map from values to pixels, linear or logarithmic; `clamp` keeps what has no logarithm. */
function scale(low, high, from, to, log) {
  const of = log ? Math.log10 : (value) => value;
  const [a, b] = [of(low), of(high)];
  const span = b - a || 1;
  const map = (value) => from + ((of(log ? Math.max(value, low * 1e-3) : value) - a) / span) * (to - from);
  map.inverse = (pixel) => {
    const value = a + ((pixel - from) / (to - from)) * span;
    return log ? 10 ** value : value;
  };
  map.low = low; map.high = high; map.log = log;
  return map;
}

/** Round values within [low, high], about `wanted` of them. */
function ticks(low, high, wanted, log) {
  if (log) {
    const decades = Math.log10(high / low);
    if (decades > 0.7) {
      const marks = decades > wanted ? [1] : decades * 3 <= wanted * 1.3 ? [1, 2, 5] : decades * 2 <= wanted * 1.4 ? [1, 3] : [1];
      const every = Math.max(1, Math.ceil(decades / wanted));
      const found = [];
      for (let power = Math.floor(Math.log10(low)); power <= Math.ceil(Math.log10(high)); power += 1) {
        if (power % every) continue;
        for (const mark of marks) {
          const value = mark * 10 ** power;
          if (value >= low * 0.999 && value <= high * 1.001) found.push(value);
        }
      }
      if (found.length > 1) return found;
    }
  }
  const rough = (high - low) / Math.max(wanted, 1) || 1;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].map((m) => m * power).find((s) => s >= rough * 0.999);
  const found = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; k += 1) found.push(Number((k * step).toPrecision(12)));
  return found;
}

/** A tick's text: short, and exact. */
function tickText(value) {
  const size = Math.abs(value);
  if (size >= 1e6) return `${+(value / 1e6).toPrecision(4)}M`;
  if (value !== 0 && size < 1e-3) return value.toExponential(0);
  return Number(value.toPrecision(6)).toLocaleString("en-US", { maximumFractionDigits: 6 });
}

/** Move sorted places apart until neighbours are at least `gap` apart, within [low, high]. */
function spread(places, gap, low, high) {
  const placed = places.slice();
  for (let pass = 0; pass < 60; pass += 1) {
    let moved = false;
    for (let i = 0; i + 1 < placed.length; i += 1) {
      const overlap = gap - (placed[i + 1] - placed[i]);
      if (overlap > 0.01) { placed[i] -= overlap / 2; placed[i + 1] += overlap / 2; moved = true; }
    }
    if (placed.length && placed[0] < low) { placed[0] = low; }
    if (placed.length && placed[placed.length - 1] > high) { placed[placed.length - 1] = high; }
    if (!moved) break;
  }
  return placed;
}
