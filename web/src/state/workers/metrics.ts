import type { Metrics, MetricsPoint, Noticed } from "../../protocol";
import { spanUnit } from "../../lib/plot";
import { hundredths } from "../../lib/amounts";
import { spanOf } from "../../lib/time";

/** A number with enough digits to tell a small value from zero. */
export function few(value: number): string {
  return String(Number(value.toFixed(value < 0.1 ? 3 : value < 1 ? 2 : 1)));
}

/** Hundredths as a plotted value. */
export function parts(value: number | null): number | null {
  return value === null ? null : value / 100;
}

/** The numbers of concurrent workers: peak at one moment, average over the whole range. */
export function busyWords({ peak, busy }: Pick<Metrics, "peak" | "busy">): string {
  return `Peak ${peak}, average ${averageOf(busy)}.`;
}

/** An average that is not shown as zero. */
export function averageOf(busy: number): string {
  return busy === 0 ? "under 0.01" : hundredths(busy);
}

/** A summary of the speed-up. */
export function speedWords(
  speedUp: number | null,
  series: readonly Pick<MetricsPoint, "speed_up">[],
): string {
  const known = series.flatMap((one) => one.speed_up ?? []);
  const most = Math.max(0, ...known);
  return speedUp === null
    ? "No successful work in this range."
    : `${hundredths(speedUp)}× overall, ${hundredths(most)}× at best.`;
}

/** A summary of detection times. */
export function noticedWords(noticed: Noticed, one: string, many: string): string {
  return noticed.times === 1
    ? `1 ${one}, after ${spanOf(noticed.longest_ms)}`
    : `${noticed.times} ${many}: median ${spanOf(noticed.median_ms)}, longest ${spanOf(noticed.longest_ms)}`;
}

/** The detection times of lost workers, then of failed sessions. */
export function detectionWords({ vanished, failures }: Pick<Metrics, "vanished" | "failures">): string {
  return [
    vanished && noticedWords(vanished, "lost worker", "lost workers"),
    failures && noticedWords(failures, "failed session", "failed sessions"),
  ]
    .filter(Boolean)
    .join("; ")
    .concat(".");
}

/** Detection times in one unit, with formats for the axis and the table. */
export function detection(series: readonly Pick<MetricsPoint, "vanished" | "failures">[]) {
  const longest = series.flatMap((one) => [one.vanished?.longest_ms ?? 0, one.failures?.longest_ms ?? 0]);
  const unit = spanUnit(Math.max(0, ...longest));
  const of = (say: (one: (typeof series)[number]) => number | undefined) =>
    series.map((one) => {
      const ms = say(one);
      return ms === undefined ? null : ms / unit.size;
    });
  return {
    longest: of((one) => one.vanished?.longest_ms),
    median: of((one) => one.vanished?.median_ms),
    failures: of((one) => one.failures?.longest_ms),
    word: (value: number) => spanOf(value * unit.size),
    axis: (value: number) => `${value} ${unit.name}`,
  };
}

/** The context scores, best first. */
export const SCORES = [
  { score: 5, note: "complete" },
  { score: 4, note: "" },
  { score: 3, note: "" },
  { score: 2, note: "" },
  { score: 1, note: "insufficient" },
] as const;

/** Which plots have data. */
export function shown(
  metrics: Metrics,
): Record<"ended" | "busy" | "asked" | "perTask" | "scores" | "detection" | "tokens" | "cost", boolean> {
  const { series, usage } = metrics;
  return {
    ended: series.some((one) => one.done + one.failed > 0),
    busy: metrics.peak > 0,
    asked: metrics.interventions > 0,
    perTask: metrics.over > 0,
    scores: metrics.context_score !== null,
    detection: metrics.vanished !== null || metrics.failures !== null,
    tokens: usage.input_tokens + usage.output_tokens > 0,
    cost: usage.cost_micros !== null,
  };
}
