"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const find = (id) => document.getElementById(id);
  const budgetSlider = find("budget"), limitSlider = find("limit");
  const corners = [[0, 0], [0, 1], [1, 0], [1, 1]];

  const place = (knots, position) => { // an interval, where in it, the value, and whether it is a knot
    if (knots.length === 1) return { j: 0, u: 0, value: knots[0], knot: true };
    const j = Math.min(Math.floor(position / data.steps), knots.length - 2);
    const u = (position - j * data.steps) / data.steps;
    const value = u === 0 ? knots[j] : u === 1 ? knots[j + 1] : knots[j] + (knots[j + 1] - knots[j]) * u;
    return { j, u, value, knot: u === 0 || u === 1 };
  };

  // the weights of the corners (0,0), (0,1), (1,0), (1,1) in the two triangulations of a square
  const triangles = (u, v) => [
    u >= v ? [1 - u, 0, u - v, v] : [1 - v, v - u, 0, u],
    u + v <= 1 ? [1 - u - v, v, u, 0] : [0, 1 - u, 1 - v, u + v - 1],
  ];

  const locate = (position, limitPosition) => {
    const b = place(data.budgets, position), c = place(data.limits, limitPosition);
    const knot = b.knot && c.knot;
    let best = null;
    for (const weights of triangles(b.u, c.u)) {
      const used = weights.map((w, i) => ({ w, k: c.j + corners[i][1], j: b.j + corners[i][0] })).filter((one) => one.w > 0);
      if (used.some((one) => data.lower[one.k][one.j] === null)) continue;
      const sum = used.reduce((total, one) => total + one.w * data.lower[one.k][one.j], 0);
      const lower = used.length === 1 ? sum : sum * (1 - data.rounding);
      if (best === null || lower > best.lower) best = { lower, used };
    }
    let upper = Infinity;
    data.limits.forEach((limit, k) => data.budgets.forEach((budget, j) => {
      const top = data.upper[k][j], price = data.price[k][j], slope = data.slope[k][j];
      if (top === null) return;
      if (budget === b.value && limit === c.value) upper = Math.min(upper, top);
      else if (price !== null && slope !== null) {
        const rise = price * (b.value - budget), move = slope * (c.value - limit);
        upper = Math.min(upper, top + rise + move + data.rounding * (Math.abs(top) + Math.abs(rise) + Math.abs(move)));
      }
    }));
    const lower = best === null ? null : best.lower;
    return { b, c, knot, lower, upper: lower === null ? upper : Math.max(upper, lower), used: best === null ? [] : best.used };
  };

  const mix = (at, values) => { // between the knots of the triangle; null where one is not known
    if (at.used.length === 0 || at.used.some((one) => values[one.k][one.j] === null)) return null;
    return at.used.reduce((total, one) => total + one.w * values[one.k][one.j], 0);
  };

  const superscript = (n) => String(n).replace(/[-0-9]/g, (d) => d === "-" ? "⁻" : "⁰¹²³⁴⁵⁶⁷⁸⁹"[d]);

  const shown = (x, digits = 6, towards = 0) => { // towards −1 or +1: a bound is rounded against itself
    if (x === null) return "–";
    if (!Number.isFinite(x)) return x > 0 ? "∞" : "−∞";
    if (x === 0) return "0";
    let [mantissa, exponent] = x.toExponential(digits - 1).split("e");
    if (towards !== 0) { // from all digits that the double has
      const [all, power] = Math.abs(x).toExponential(100).split("e");
      const written = all.replace(".", "");
      const beyond = /[1-9]/.test(written.slice(digits)) && towards > 0 === x > 0;
      const unit = String(BigInt(written.slice(0, digits)) + (beyond ? 1n : 0n));
      mantissa = `${x < 0 ? "-" : ""}${unit[0]}.${unit.slice(1)}`;
      exponent = Number(power) + unit.length - digits;
    }
    const power = Number(exponent), number = Number(`${mantissa}e${exponent}`);
    const trim = (text) => text.includes(".") ? text.replace(/0+$/, "").replace(/\.$/, "") : text;
    if (power >= -4 && power < Math.max(digits, 7)) {
      const [whole, part] = number.toFixed(Math.max(0, digits - 1 - power)).split(".");
      const grouped = whole.replace(/\B(?=(\d{3})+(?!\d))/g, ",");
      return trim(part === undefined ? grouped : `${grouped}.${part}`).replace("-", "−");
    }
    const text = trim(mantissa).replace("-", "−");
    return text === "1" ? `10${superscript(power)}` : `${text}×10${superscript(power)}`;
  };

  const interval = (lower, upper) => { // rounded outwards, with one digit more than the bounds share
    if (lower === null) return `at most ${shown(upper, 10, 1)}`;
    const largest = Math.max(Math.abs(lower), Math.abs(upper)), gap = upper - lower;
    const shared = gap === 0 ? 15 : largest === 0 ? 1 : Math.floor(Math.log10(largest) - Math.log10(gap));
    const digits = Math.min(15, Math.max(1, Math.min(15, shared)) + 2);
    return `${shown(lower, digits, -1)} to ${shown(upper, digits, 1)}`;
  };

  const write = (id, text, tag) => {
    const value = find(`v-${id}`);
    if (value === null) return;
    value.textContent = text;
    const note = find(`t-${id}`);
    if (note !== null && tag !== undefined) note.textContent = tag;
  };

  const pixel = (axis, value) => {
    const [low, high, start, end] = axis;
    const at = start + (Math.min(Math.max(value, low), high) - low) / (high - low) * (end - start);
    return Math.round(at * 10) / 10;
  };

  const draw = (chart, name, points, dots = false) => {
    const path = document.querySelector(`#figure-explorer-${chart} .at-${name}`);
    if (path === null) return;
    const [x, y] = data.axes[chart];
    const known = points.filter(([, value]) => value !== null && Number.isFinite(value));
    const pairs = known.map(([a, b]) => `${pixel(x, a)} ${pixel(y, b)}`);
    path.setAttribute("d", dots ? pairs.map((pair) => `M${pair}h0`).join("") : pairs.length ? `M${pairs.join("L")}` : "");
  };

  const last = (data.budgets.length - 1) * data.steps;
  const everyPosition = Array.from({ length: last + 1 }, (_, position) => position);

  const drawCurves = (limitPosition) => {
    const along = everyPosition.map((position) => locate(position, limitPosition));
    draw("frontier", "lower", along.map((at) => [at.b.value, at.lower]));
    draw("frontier", "upper", along.map((at) => [at.b.value, at.upper]));
    const solved = along.filter((at) => at.b.knot);
    draw("payments", "mean", solved.map((at) => [at.b.value, mix(at, data.mean)]));
    draw("payments", "most", solved.map((at) => [at.b.value, mix(at, data.most)]));
    if (data.errors) ["total", "sampling", "noise"].forEach((name, i) =>
      draw("prediction", name, solved.map((at) => [at.b.value, mix(at, data.errors[i])])));
  };

  const show = () => {
    const limitPosition = limitSlider === null ? 0 : Number(limitSlider.value);
    const at = locate(Number(budgetSlider.value), limitPosition);
    const proved = at.used.length > 0 && at.used.every((one) => data.proved[one.k][one.j]);
    const [k, j] = at.knot ? [at.c.j + (at.c.u === 1 ? 1 : 0), at.b.j + (at.b.u === 1 ? 1 : 0)] : [null, null];
    const known = at.lower !== null;
    const told = (words, between = "interpolated, not proved") => !known ? "no thresholds are known here" : at.knot ? words : between;
    const certified = told("certified with this budget");
    const nothing = !known && at.upper !== null && at.upper < 0;
    const bought = interval(at.lower, at.upper);
    write("budget", shown(at.b.value, 9));
    write("limit", shown(at.c.value));
    write("privacy", bought, nothing ? "proved: nothing satisfies all constraints" : !known ? "proved upper bound" : proved ? "proved interval" : "interval in doubles, rounding added");
    write("price", at.knot ? (data.price[k][j] === null ? "–" : shown(data.price[k][j])) : shown(mix(at, data.price)), certified);
    write("sold", shown(mix(at, data.sold)), certified);
    write("mean", shown(mix(at, data.mean)), certified);
    write("deviation", shown(mix(at, data.deviation)), told("computed, owners independent"));
    write("most", shown(mix(at, data.most)), told("proved at this budget, owners independent"));
    if (data.errors) ["total", "sampling", "noise"].forEach((name, i) =>
      write(name, shown(mix(at, data.errors[i])), told("predicted, not proved", "predicted and interpolated, not proved")));
    const state = known
      ? at.knot ? "A solved and certified budget." : "Between solved budgets: the interval of V is proved, the rest is interpolated."
      : at.knot ? `Solved: ${data.status[k][j].toLowerCase()}. No thresholds are known that satisfy all constraints here.`
        : "No thresholds are known that satisfy all constraints here.";
    if (find("state").textContent !== state) find("state").textContent = state;
    budgetSlider.setAttribute("aria-valuetext", `budget ${shown(at.b.value, 9)}: purchased privacy ${bought}`);
    if (limitSlider !== null) limitSlider.setAttribute("aria-valuetext", shown(at.c.value));
    const owners = (values) => data.epsilon.map((epsilon, i) => [epsilon,
      at.used.length === 0 ? null : at.used.reduce((total, one) => total + one.w * values[one.k][one.j][i], 0)]);
    draw("thresholds", "thresholds", owners(data.thresholds), true);
    draw("acceptance", "acceptance", owners(data.acceptance), true);
    for (const chart of ["frontier", "payments", "prediction"]) if (chart in data.axes) {
      const [, y] = data.axes[chart];
      draw(chart, "budget", [[at.b.value, y[0]], [at.b.value, y[1]]]);
    }
  };

  const step = (by) => {
    const knot = Number(budgetSlider.value) / data.steps;
    const next = by > 0 ? Math.floor(knot) + 1 : Math.ceil(knot) - 1;
    budgetSlider.value = String(Math.min(Math.max(next * data.steps, 0), last));
    show();
  };

  find("controls").hidden = false;
  budgetSlider.addEventListener("input", show);
  if (limitSlider !== null) limitSlider.addEventListener("input", () => { drawCurves(Number(limitSlider.value)); show(); });
  find("previous").addEventListener("click", () => step(-1));
  find("next").addEventListener("click", () => step(1));
  drawCurves(limitSlider === null ? 0 : Number(limitSlider.value));
  show();
})();
