import { describe, expect, it } from "vitest";
import { numbered, type Remark, remarked, reviewText } from "./review";

const remark = (path: string, line: number, text: string, removed = false): Remark => ({
  path,
  line,
  removed,
  quote: `  line ${line}`,
  text,
});

describe("a review", () => {
  it("has old and new line numbers", () => {
    const lines = numbered({
      old_start: 10,
      new_start: 12,
      old_open: false,
      new_open: false,
      lines: [
        { kind: "same", text: "a" },
        { kind: "removed", text: "b" },
        { kind: "added", text: "c" },
        { kind: "same", text: "d" },
      ],
    });
    expect(lines.map((line) => [line.old, line.now])).toEqual([
      [10, 12],
      [11, null],
      [null, 13],
      [12, 14],
    ]);
  });

  it("has one comment per line and no empty ones", () => {
    const first = remarked([], remark("a", 1, " one "));
    const second = remarked(first, remark("a", 1, "two"));
    expect(second.map((one) => one.text)).toEqual(["two"]);
    expect(remarked(second, remark("a", 1, "before", true))).toHaveLength(2);
    expect(remarked(second, remark("a", 1, "  "))).toEqual([]);
  });

  it("lists path, quote and comment in order", () => {
    const text = reviewText([remark("src/b.ts", 9, "why?"), remark("src/a.ts", 12, "name it", true)]);
    expect(text).toBe(
      "2 comments on your changes:\n\nsrc/a.ts:12 (removed line)\n> line 12\nname it\n\nsrc/b.ts:9\n> line 9\nwhy?",
    );
  });
});
