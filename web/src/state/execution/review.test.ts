import { describe, expect, it } from "vitest";
import { numbered } from "./review";

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
});
