import { expect, it } from "vitest";
import { task } from "../../state/testing/samples";
import type { Task } from "../../protocol";
import { difference, idsOf, referring, sorted, updateAll } from "./again";

it("recognises the open and done tasks of a plan by their titles", () => {
  const lines = [
    task("2", { title: "Write it" }),
    task("1", { title: "write it" }),
    task("0", { title: "Write it", status: "done" }),
    task("3", { title: "Done it", status: "done" }),
    task("4", { title: "Lost it", status: "cancelled" }),
  ];
  const plan = [
    { id: "w", description: "Write it\nwell" },
    { id: "d", description: "Done it" },
    { description: "Lost it", deps: ["w"] },
  ];
  const { add, update, done } = sorted(plan, lines);
  expect(update.map(({ there }) => there.id)).toEqual(["1"]);
  expect(add.map((one) => one.description)).toEqual(["Lost it"]);
  expect(done.map(({ there }) => there.id)).toEqual(["3"]);
  expect([...idsOf([...update, ...done])]).toEqual([
    ["w", "1"],
    ["d", "3"],
  ]);
  const ids = new Map([["w", "1"]]);
  expect(referring(add, ids)[0]?.deps).toEqual(["1"]);
});

const there = (more: Partial<Task> = {}): Task => ({
  id: "1",
  short: "CALC-1",
  project: "p",
  activity: null,
  description: "Write it\nwell",
  context: "Use the new parser.",
  acceptance: [{ kind: "committed" }],
  files: ["a.rs"],
  deps: ["9"],
  priority: 5,
  needs: [],
  labels: ["ui"],
  status: "ready",
  reason: null,
  attempt: 0,
  lease: null,
  assigned_to: null,
  session: null,
  progress: null,
  edits: 3,
  created_by: { id: "ann", name: "ann" },
  author_kind: "user",
  author_session: null,
  created_at: "2026-11-18T10:00:00Z",
  updated_at: "2026-11-18T10:00:00Z",
  ...more,
});
const plan = { description: "Write it\nwell", context: "Use the new parser.\n", deps: ["d"] };
const ids = new Map([["d", "9"]]);
const SAID =
  "Question: Which one?\n\nThe first?\nAnswer by ann: The second.\n\nReopened by bo: also the docs";

it("changes nothing when the plan says the same, and keeps what it does not mention", () => {
  expect(difference(there(), plan, ids)).toBeNull();
  expect(difference(there(), { ...plan, priority: 7, files: ["b.rs"], labels: ["api"] }, ids)).toEqual({
    priority: 7,
    files: ["b.rs"],
    labels: ["api"],
    expected_edits: 3,
  });
});

it("keeps what people answered", () => {
  const answered = there({ context: `Use the new parser.\n\n${SAID}` });
  expect(difference(answered, plan, ids)).toBeNull();
  expect(difference(answered, { ...plan, context: "Use the old parser." }, ids)?.context).toBe(
    `Use the old parser.\n\n${SAID}`,
  );
  const retried = there({ context: "ann retried it: with more care" });
  expect(difference(retried, { ...plan, context: "Use it." }, ids)?.context).toBe(
    "Use it.\n\nann retried it: with more care",
  );
});

it("goes on after a task that cannot be updated", async () => {
  const edited: string[] = [];
  const lines = ["1", "2", "3"].map((id) => task(id, { short: `CALC-${id}` }));
  const update = lines.map((line) => ({ there: line, task: { ...plan, priority: 8 } }));
  const done = await updateAll(update, ids, {
    show: (id) => Promise.resolve(there({ id, ...(id === "3" ? { priority: 8 } : {}) })),
    edit: (id) => {
      if (id === "1") return Promise.reject(new Error("a worker has it"));
      edited.push(id);
      return Promise.resolve();
    },
  });
  expect(edited).toEqual(["2"]);
  expect(done).toMatchObject({ updated: 1, failed: [{ short: "CALC-1" }] });
});
