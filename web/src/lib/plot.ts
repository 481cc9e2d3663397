/** Round tick values from 0 to at least the highest value, with at most `most` steps. */
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

/** The step between shown labels, so that at most `most` are shown. */
export function every(count: number, most: number): number {
  return Math.max(1, Math.ceil(count / most));
}

const hour = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
const day = new Intl.DateTimeFormat(undefined, { month: "short", day: "numeric" });

/** The label of a time, by the length of the axis. */
export function axisTime(at: string, spanMs: number): string {
  return (spanMs > 36 * 3_600_000 ? day : hour).format(Date.parse(at));
}

/** The runs of known values, with their start indexes. */
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

/** The unit for durations on an axis, by the longest one in milliseconds. */
export function spanUnit(longest: number): { size: number; name: string } {
  if (longest < 2_000) return { size: 1, name: "ms" };
  if (longest < 180_000) return { size: 1_000, name: "s" };
  if (longest < 3 * 3_600_000) return { size: 60_000, name: "min" };
  return { size: 3_600_000, name: "h" };
}
