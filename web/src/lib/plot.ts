/** Values at which an axis is marked: from 0, round, at most `most` steps, the last not below the highest value. */
export function ticks(highest: number, most = 4, whole = false): number[] {
  if (!(highest > 0)) return [0, 1];
  const rough = whole ? Math.max(1, highest / most) : highest / most;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step =
    (whole && power < 10 ? [1, 2, 5, 10] : [1, 2, 2.5, 5, 10])
      .map((one) => one * power)
      .find((one) => one >= rough - 1e-12) ?? 10 * power;
  const count = Math.ceil(highest / step - 1e-9);
  return Array.from({ length: count + 1 }, (_, at) => Number((at * step).toPrecision(12)));
}

/** Which of many labels are shown, so that they do not touch: the first, and others as far apart as each other. */
export function every(count: number, most: number): number {
  return Math.max(1, Math.ceil(count / most));
}

const hour = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
const day = new Intl.DateTimeFormat(undefined, { month: "short", day: "numeric" });

/** A moment as an axis names it, by how long the axis is. */
export function axisTime(at: string, spanMs: number): string {
  return (spanMs > 36 * 3_600_000 ? day : hour).format(Date.parse(at));
}

/** The stretches in which values are known, each with where it begins. */
export function runs(values: readonly (number | null)[]): { from: number; values: number[] }[] {
  const found: { from: number; values: number[] }[] = [];
  values.forEach((value, index) => {
    if (value === null) return;
    const last = found.at(-1);
    if (last && last.from + last.values.length === index) last.values.push(value);
    else found.push({ from: index, values: [value] });
  });
  return found;
}

/** The unit in which stretches of time are told on an axis, by the longest of them in milliseconds. */
export function spanUnit(longest: number): { size: number; name: string } {
  if (longest < 2_000) return { size: 1, name: "ms" };
  if (longest < 180_000) return { size: 1_000, name: "s" };
  if (longest < 3 * 3_600_000) return { size: 60_000, name: "min" };
  return { size: 3_600_000, name: "h" };
}
