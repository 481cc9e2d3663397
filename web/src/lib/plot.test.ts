import { describe, expect, it } from "vitest";
import { every, runs, spanUnit, ticks } from "./plot";

describe("an axis", () => {
  it("has round ticks up to the highest value", () => {
    expect(ticks(10)).toEqual([0, 2.5, 5, 7.5, 10]);
    expect(ticks(7)).toEqual([0, 2, 4, 6, 8]);
    expect(ticks(0.31)).toEqual([0, 0.1, 0.2, 0.3, 0.4]);
    expect(ticks(1_234_567).at(-1)).toBeGreaterThanOrEqual(1_234_567);
    expect(ticks(10, 4, true)).toEqual([0, 5, 10]);
    expect(ticks(2, 4, true)).toEqual([0, 1, 2]);
    expect(ticks(0)).toEqual([0, 1]);
    expect(ticks(Number.NaN)).toEqual([0, 1]);
  });

  it("limits the number of labels", () => {
    expect(every(24, 6)).toBe(4);
    expect(every(3, 6)).toBe(1);
  });
});

describe("values with gaps", () => {
  it("are split into runs", () => {
    expect(runs([null, 1, 2, null, null, 3])).toEqual([
      { from: 1, values: [1, 2] },
      { from: 5, values: [3] },
    ]);
    expect(runs([null, null])).toEqual([]);
    expect(runs([0])).toEqual([{ from: 0, values: [0] }]);
  });
});

it("durations use the unit of the longest one", () => {
  expect([12, 1_999, 2_000, 179_999, 180_000, 4 * 3_600_000].map((ms) => spanUnit(ms).name)).toEqual([
    "ms",
    "ms",
    "s",
    "s",
    "min",
    "h",
  ]);
});
