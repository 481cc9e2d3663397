import { describe, expect, it } from "vitest";
import { compareTexts, merge } from "./merge";

describe("merge", () => {
  const base = "a\nb\nc\nd\ne";

  it("merges changes that do not overlap", () => {
    expect(merge(base, "A\nb\nc\nd\ne", "a\nb\nc\nd\nE")).toEqual({ text: "A\nb\nc\nd\nE", conflicts: 0 });
    expect(merge(base, "a\nb\nnew\nc\nd\ne", "a\nb\nc\nd")).toEqual({
      text: "a\nb\nnew\nc\nd",
      conflicts: 0,
    });
  });

  it("takes a one-sided or identical change", () => {
    expect(merge(base, base, "x")).toEqual({ text: "x", conflicts: 0 });
    expect(merge(base, "x", base)).toEqual({ text: "x", conflicts: 0 });
    expect(merge(base, "a\nB\nc\nd\ne", "a\nB\nc\nd\ne")).toEqual({ text: "a\nB\nc\nd\ne", conflicts: 0 });
  });

  it("marks conflicts and keeps both sides", () => {
    const both = merge(base, "a\nmine\nc\nd\ne", "a\ntheirs\nc\nd\ne");
    expect(both.conflicts).toBe(1);
    expect(both.text).toBe("a\n<<<<<<< yours\nmine\n=======\ntheirs\n>>>>>>> theirs\nc\nd\ne");
  });

  it("never loses a line of either side", () => {
    let seed = 7;
    const random = (below: number) => (seed = (seed * 48_271) % 2_147_483_647) % below;
    const text = (from: string[]) =>
      from.flatMap((line) => [[line], [], [line, `x${random(9)}`]][random(3)] ?? []);
    for (let round = 0; round < 500; round++) {
      const lines = Array.from({ length: random(9) + 1 }, (_, index) => `l${index}`);
      const mine = text(lines);
      const theirs = text(lines);
      const merged = merge(lines.join("\n"), mine.join("\n"), theirs.join("\n")).text.split("\n");
      for (const line of [...mine, ...theirs].filter((one) => one.startsWith("x")))
        expect(merged).toContain(line);
    }
  });

  it("is fast for long texts", () => {
    const long = Array.from({ length: 8_000 }, (_, index) => `line ${index}`);
    const mine = long.map((line) => `${line} mine`).join("\n");
    const theirs = [...long, "one more"].join("\n");
    const before = performance.now();
    merge(long.join("\n"), mine, theirs);
    expect(performance.now() - before).toBeLessThan(1_000);
  });
});

describe("compareTexts", () => {
  it("returns added, removed and unchanged lines", () => {
    expect(compareTexts("a\nb", "a\nc").map((line) => `${line.kind} ${line.text}`)).toEqual([
      "same a",
      "removed b",
      "added c",
    ]);
  });
});
