import { describe, expect, it } from "vitest";
import type { DiffKind, FileDiff, Hunk, ReviewThread } from "../../protocol";
import { changedWords, foldersOf, linesOf, placed, printOf, quoteOf, rowsOf } from "./changes";

const hunk = (...lines: string[]): Hunk => ({
  old_start: 1,
  new_start: 1,
  old_open: false,
  new_open: false,
  lines: lines.map((line) => ({
    kind: ({ "+": "added", "-": "removed" }[line[0] ?? ""] ?? "same") as DiffKind,
    text: line.slice(1),
  })),
});

const file = (path: string, ...hunks: Hunk[]): FileDiff => ({
  path,
  old_path: null,
  change: "modified",
  old_mode: "100644",
  mode: "100644",
  binary: false,
  insertions: 1,
  deletions: 1,
  hunks,
  exact: true,
});

const thread = (side: "old" | "new", line: number, end_line = line) =>
  ({ id: `thr_${side}${line}`, side, line, end_line }) as ReviewThread;

describe("changed words", () => {
  it("are marked on both sides", () => {
    const [before, after] = changedWords("let total = a + b;", "let sum = a + b;") ?? [];
    expect(before?.filter((one) => one.changed).map((one) => one.text)).toEqual(["total"]);
    expect(after?.filter((one) => one.changed).map((one) => one.text)).toEqual(["sum"]);
    expect(before?.map((one) => one.text).join("")).toBe("let total = a + b;");
    expect(after?.map((one) => one.text).join("")).toBe("let sum = a + b;");
  });

  it("are not marked in lines with little in common", () => {
    expect(changedWords("fn main() {", "// nothing of that")).toBeNull();
    expect(changedWords("a ".repeat(500), "b ".repeat(500))).toBeNull();
  });
});

describe("a hunk", () => {
  const lines = linesOf(hunk(" a", "-old one", "-gone", "+new one", " b", "+added"));

  it("marks words in replaced lines only", () => {
    expect(lines.map((line) => line.pieces !== null)).toEqual([false, true, false, true, false, false]);
  });

  it("is shown side by side", () => {
    const shown = rowsOf(lines).map(({ left, right }) => [left?.text ?? null, right?.text ?? null]);
    expect(shown).toEqual([
      ["a", "a"],
      ["old one", "new one"],
      ["gone", null],
      ["b", "b"],
      [null, "added"],
    ]);
  });
});

describe("files", () => {
  it("are grouped by folder", () => {
    const found = foldersOf([{ path: "a/b/x" }, { path: "a/b/y" }, { path: "z" }]);
    expect(found.map(({ folder, files }) => [folder, files.length])).toEqual([
      ["a/b/", 2],
      ["", 1],
    ]);
  });

  it("are recognised by their changes", () => {
    expect(printOf(file("a", hunk("+x")))).toBe(printOf(file("b", hunk("+x"))));
    expect(printOf(file("a", hunk("+x")))).not.toBe(printOf(file("a", hunk("+y"))));
  });

  it("have threads below their lines, and others apart", () => {
    const one = file("a", hunk(" a", "-b", "+c"));
    const { at, apart } = placed(one, [thread("new", 1, 2), thread("old", 2), thread("new", 9)]);
    expect([...at.keys()]).toEqual(["new 2", "old 2"]);
    expect(apart.map((found) => found.line)).toEqual([9]);
  });

  it("are quoted by lines", () => {
    const one = file("a", hunk(" a", "-b", "+c", "+d"));
    expect(quoteOf(one, "new", 1, 2)).toBe("a\nc");
    expect(quoteOf(one, "old", 2, 2)).toBe("b");
  });
});
