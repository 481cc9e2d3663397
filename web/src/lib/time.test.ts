import { describe, expect, it } from "vitest";
import { dayName, lasting, relative } from "./time";

describe("times", () => {
  const now = Date.parse("2026-11-15T12:00:00.000Z");

  it("are formatted relative to now", () => {
    expect(relative(now - 2_000, now)).toBe("just now");
    expect(relative(now - 40_000, now)).toBe("40s ago");
    expect(relative(now - 3 * 3_600_000, now)).toMatch(/^3h/);
    expect(relative(now + 3 * 86_400_000, now)).toMatch(/^in 3d/);
  });

  it("name recent days", () => {
    expect(dayName(now, now)).toBe("Today");
    expect(dayName(now - 86_400_000, now)).toBe("Yesterday");
  });
});

it("a duration is shown in minutes, then hours, then days", () => {
  const minute = 60_000;
  expect([-5, 59_999, minute, 4.9 * minute, 125 * minute, 27 * 60 * minute].map(lasting)).toEqual([
    "for a moment",
    "for a moment",
    "for 1 min",
    "for 4 min",
    "for 2 h 5 min",
    "for 1 d 3 h",
  ]);
});
