import { describe, expect, it } from "vitest";
import type { ReviewThread } from "../../protocol";
import { placeOf, threadsByFile, verdictsFor } from "./threads";

const thread = (more: Partial<ReviewThread>): ReviewThread =>
  ({ id: "thr_1", path: "src/a.rs", side: "new", line: 3, end_line: 3, ...more }) as ReviewThread;

describe("a thread", () => {
  it("is named by its lines", () => {
    expect(placeOf(thread({}))).toBe("src/a.rs:3");
    expect(placeOf(thread({ end_line: 5, side: "old" }))).toBe("src/a.rs:3-5 (before)");
  });

  it("belongs to its file", () => {
    const found = threadsByFile([thread({}), thread({ path: "b" }), thread({ line: 9 })]);
    expect([...found].map(([path, all]) => [path, all.length])).toEqual([
      ["src/a.rs", 2],
      ["b", 1],
    ]);
  });
});

describe("a verdict", () => {
  const reported = { report: "rep_1", tree: "t1" };

  it("needs a report that waits for a person, or changes that were accepted", () => {
    expect(verdictsFor("escalated", reported, true).approve).toBe(true);
    expect(verdictsFor("escalated", { report: null, tree: null }, true).approve).toBe(false);
    expect(verdictsFor("done", reported, true).approve).toBe(true);
    expect(verdictsFor("done", reported, true, true).approve).toBe(false);
    expect(verdictsFor("done", { report: "rep_1", tree: null }, true).approve).toBe(false);
    expect(verdictsFor("running", reported, false)).toEqual({
      approve: false,
      unseen: false,
      sendBack: true,
    });
    expect(verdictsFor("done", null, false).sendBack).toBe(false);
  });

  it("is not given about changes that cannot be shown", () => {
    expect(verdictsFor("done", reported, false).unseen).toBe(true);
    expect(verdictsFor("done", reported, true).unseen).toBe(false);
    expect(verdictsFor("escalated", { report: "rep_1", tree: null }, false).unseen).toBe(false);
  });
});
