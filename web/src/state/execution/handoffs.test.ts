import { expect, test } from "vitest";
import type { Handoff } from "../../protocol";
import { canSkip, decides, handoffOf, needsReader, stepsOf, wordOf } from "./handoffs";

function handoff(over: Partial<Handoff>): Handoff {
  return {
    id: "hnd_1",
    project: "prj_1",
    activity: "act_1",
    session: "ses_1",
    title: "Add sub",
    workspace: "wsp_1",
    runner: "run_1",
    owner: { id: "usr_1", name: "Ann" },
    task: null,
    to_runner: "run_1",
    to: { id: "usr_1", name: "Ann" },
    agent: "codex",
    writes: true,
    reads: true,
    takes_over: false,
    goal: "",
    edit: false,
    push: false,
    status: "running",
    step: "write",
    detail: null,
    steps: [],
    hash: null,
    saved: null,
    branch: null,
    successor: null,
    by_itself: null,
    asked_by: { id: "usr_1", name: "Ann" },
    created_at: "2026-01-01T00:00:00Z",
    updated_at: "2026-01-01T00:00:00Z",
    ...over,
  };
}

test("steps show what is done, what runs and what is to come", () => {
  const at = "2026-01-01T00:00:00Z";
  const now = handoff({
    step: "save",
    steps: [{ step: "write", outcome: "done", detail: "by the agent", at }],
  });
  expect(stepsOf(now).map((one) => one.state)).toEqual(["done", "current", "open", "open", "open", "open"]);
  const failed = handoff({ step: "save", status: "failed", detail: "no space left" });
  expect(stepsOf(failed)[1]).toMatchObject({ state: "failed", detail: "no space left" });
  expect(wordOf(failed)).toBe("The handoff failed: no space left");
});

test("only the steps that lose nothing can be skipped", () => {
  expect(canSkip(handoff({ step: "publish" }))).toBe(true);
  expect(canSkip(handoff({ step: "stop" }))).toBe(false);
  expect(canSkip(handoff({ step: "write", status: "cancelled" }))).toBe(false);
});

test("a person acknowledges where no agent can", () => {
  const waits = handoff({ agent: "shell", reads: false, step: "acknowledge" });
  expect(needsReader(waits)).toBe(true);
  expect(stepsOf(waits).at(-1)?.detail).toContain("acknowledge it yourself");
  expect(needsReader({ ...waits, reads: true })).toBe(false);
  expect(needsReader({ ...waits, status: "done" })).toBe(false);
});

test("an agent that cannot be asked writes nothing", () => {
  expect(stepsOf(handoff({}))[0]?.detail).toContain("agent writes");
  expect(stepsOf(handoff({ writes: false }))[0]?.detail).toContain("recording");
});

test("the owner decides about a handoff, and whoever takes a task over", () => {
  const to = { id: "usr_2", name: "Bo" };
  expect([decides(handoff({ to }), "usr_1"), decides(handoff({ to }), "usr_2")]).toEqual([true, false]);
  expect(decides(handoff({ to, takes_over: true }), "usr_2")).toBe(true);
});

test("a session has its newest handoff, as the one that ends or the one that begins", () => {
  const all = [
    handoff({ id: "hnd_1", status: "done", successor: "ses_2" }),
    handoff({ id: "hnd_2", session: "ses_2" }),
    handoff({ id: "hnd_3", session: "ses_2", status: "cancelled" }),
  ];
  const handoffs = new Map(all.map((one) => [one.id, one]));
  expect(handoffOf({ handoffs }, "ses_1")?.id).toBe("hnd_1");
  expect(handoffOf({ handoffs }, "ses_2")?.id).toBe("hnd_2");
  expect(handoffOf({ handoffs }, "ses_3")).toBeUndefined();
});
