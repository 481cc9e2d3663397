import { describe, expect, it } from "vitest";
import type { WorkOverlap } from "../../protocol";
import { overlap } from "../testing/samples";
import { nameOf, overlapped, overlapsOf, signOf } from "./overlaps";
import { placeOf } from "./words";

describe("overlaps", () => {
  it("appear, change and disappear", () => {
    const appeared = overlapped(new Map(), overlap("o"));
    expect(overlapped(appeared, overlap("o", { kind: "same_file" })).get("o")?.kind).toBe("same_file");
    expect(overlapped(appeared, overlap("o", { ended_at: "2026-11-15T11:00:00.000Z" })).size).toBe(0);
  });

  it("are shown on both activities, conflicts first", () => {
    const all = [overlap("o", { kind: "same_file" }), overlap("p")].reduce<ReadonlyMap<string, WorkOverlap>>(
      overlapped,
      new Map(),
    );
    for (const [activity, theirs] of [
      ["a", "b"],
      ["b", "a"],
    ] as const) {
      const found = overlapsOf(all, activity);
      expect(found.map((one) => [one.overlap.id, one.theirs?.activity])).toEqual([
        ["p", theirs],
        ["o", theirs],
      ]);
    }
    expect(overlapsOf(all, "c")).toEqual([]);
  });

  it("are on the floor only if they will conflict", () => {
    expect(signOf(overlapped(new Map(), overlap("o", { kind: "same_file" })), "p")).toBeNull();
    expect(signOf(overlapped(new Map(), overlap("o")), "p")).toBe("1 conflict ahead");
    expect(signOf(overlapped(new Map(), overlap("o")), "q")).toBeNull();
  });

  it("with the base branch are shown on the one activity and on the floor", () => {
    const base = overlap("o", { kind: "base", other: null, base: "main" });
    const known = overlapped(new Map(), base);
    expect(overlapsOf(known, "a").map((one) => [one.theirs, nameOf(one)])).toEqual([[null, "main"]]);
    expect(overlapsOf(known, "b")).toEqual([]);
    expect(signOf(known, "p")).toBe("1 conflict ahead");
  });

  it("name their lines", () => {
    const place = { path: "a.py", kind: "same_lines", first: 3, last: 5, symbol: null, why: "" } as const;
    expect(placeOf(place)).toBe("a.py:3-5");
    expect(placeOf({ ...place, last: 3 })).toBe("a.py:3");
    expect(placeOf({ ...place, first: null, last: null })).toBe("a.py");
    expect(placeOf({ ...place, first: null, last: null, symbol: "Sum.add" })).toBe("Sum.add in a.py");
  });
});
