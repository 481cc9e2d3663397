import { describe, expect, it } from "vitest";
import { every, ticks } from "./plot";

describe("an axis", () => {
  it("is marked at round values up to the highest", () => {
    expect(ticks(10)).toEqual([0, 2.5, 5, 7.5, 10]);
    expect(ticks(7)).toEqual([0, 2, 4, 6, 8]);
    expect(ticks(0.31)).toEqual([0, 0.1, 0.2, 0.3, 0.4]);
    expect(ticks(1_234_567).at(-1)).toBeGreaterThanOrEqual(1_234_567);
    expect(ticks(10, 4, true)).toEqual([0, 5, 10]);
    expect(ticks(2, 4, true)).toEqual([0, 1, 2]);
    expect(ticks(0)).toEqual([0, 1]);
    expect(ticks(Number.NaN)).toEqual([0, 1]);
  });

  it("has few enough labels", () => {
    expect(every(24, 6)).toBe(4);
    expect(every(3, 6)).toBe(1);
  });
});
