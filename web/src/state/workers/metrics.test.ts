import { expect, it } from "vitest";
import type { Metrics, MetricsPoint, Noticed } from "../../protocol";
import { busyWords, detection, detectionWords, few, shown, speedWords } from "./metrics";

const noticed = (times: number, median_ms: number, longest_ms: number): Noticed => ({
  times,
  median_ms,
  longest_ms,
});

it("busyWords shows peak and average", () => {
  expect(busyWords({ peak: 4, busy: 45 })).toBe("Peak 4, average 0.45.");
  expect(busyWords({ peak: 1, busy: 0 })).toBe("Peak 1, average under 0.01.");
  expect([0.004, 0.31, 2.53, 4].map(few)).toEqual(["0.004", "0.31", "2.5", "4"]);
});

it("speedWords shows overall and best speed-up, ignoring idle intervals", () => {
  expect(speedWords(271, [{ speed_up: null }, { speed_up: 300 }, { speed_up: 100 }])).toBe(
    "2.71× overall, 3.00× at best.",
  );
  expect(speedWords(null, [{ speed_up: null }])).toBe("No successful work in this range.");
});

it("detectionWords lists lost workers, then failed sessions", () => {
  expect(detectionWords({ vanished: noticed(3, 15_300, 91_000), failures: noticed(1, 12, 12) })).toBe(
    "3 lost workers: median 15 s, longest 1 min 31 s; 1 failed session, after 12 ms.",
  );
  expect(detectionWords({ vanished: null, failures: noticed(2, 10, 40) })).toBe(
    "2 failed sessions: median 10 ms, longest 40 ms.",
  );
});

it("detection times use the unit of the longest", () => {
  const found = detection([
    { vanished: noticed(2, 30_000, 90_000), failures: null },
    { vanished: null, failures: noticed(1, 500, 500) },
  ]);
  expect(found.longest).toEqual([90, null]);
  expect(found.median).toEqual([30, null]);
  expect(found.failures).toEqual([null, 0.5]);
  expect([found.axis(20), found.word(90), found.word(0.5)]).toEqual(["20 s", "1 min 30 s", "500 ms"]);
  expect(detection([{ vanished: noticed(1, 900_000, 900_000), failures: null }]).axis(5)).toBe("5 min");
  expect(detection([]).axis(5)).toBe("5 ms");
});

it("missing values are empty, and zero is a value", () => {
  const still = { done: 0, failed: 0 } as MetricsPoint;
  const nothing = {
    series: [still],
    peak: 0,
    interventions: 0,
    over: 0,
    context_score: null,
    vanished: null,
    failures: null,
    usage: { input_tokens: 0, cached_tokens: 0, output_tokens: 0, cost_micros: null },
  } as unknown as Metrics;
  expect(Object.values(shown(nothing)).some(Boolean)).toBe(false);
  expect(shown({ ...nothing, over: 1 }).perTask).toBe(true);
  expect(shown({ ...nothing, usage: { ...nothing.usage, cost_micros: 0 } }).cost).toBe(true);
  expect(shown({ ...nothing, series: [{ ...still, failed: 1 }] }).ended).toBe(true);
});
