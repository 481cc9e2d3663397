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
