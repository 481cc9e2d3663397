import { describe, expect, it } from "vitest";
import type { Criterion, Task } from "../../protocol";
import { changesOf, formOf } from "./editing";

const matches: Criterion = { kind: "file_matches", path: "a.md", regex: "x" };
const slow: Criterion = { kind: "command", argv: ["make", "a b"], timeout_seconds: 9 };
const task = {
  description: "Write it",
  context: "",
  acceptance: [matches, slow],
  files: ["src/a.ts"],
  needs: [],
  labels: ["ui"],
  deps: ["tsk_1"],
  priority: 5,
  edits: 3,
  activity: null,
} as unknown as Task;

describe("editing a task", () => {
  it("sends only what was changed", () => {
    expect(changesOf(task, formOf(task))).toBeNull();
    expect(changesOf(task, { ...formOf(task), priority: 7, deps: [] })).toEqual({
      priority: 7,
      deps: [],
      expected_edits: 3,
    });
  });

  it("replaces the labels", () => {
    expect(formOf(task).labels).toBe("ui");
    const labels = "ui, area/web";
    expect(changesOf(task, { ...formOf(task), labels })?.labels).toEqual(["ui", "area/web"]);
    expect(changesOf(task, { ...formOf(task), labels: "" })?.labels).toEqual([]);
  });

  it("keeps criteria that the form cannot show", () => {
    const form = formOf(task);
    const criteria = form.criteria.map((one, at) => (at === 1 ? { ...one, value: "make test" } : one));
    expect(changesOf(task, { ...form, criteria })?.acceptance).toEqual([
      matches,
      { kind: "command", argv: ["make", "test"] },
    ]);
  });
});
