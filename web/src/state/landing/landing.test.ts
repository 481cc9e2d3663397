import { describe, expect, it } from "vitest";
import type { Landing, Workspace } from "../../protocol";
import { activity, task, workspace } from "../testing/samples";
import { canAsk, hasMoreToLand, isNewerReport, isNewerWork, isOnGitHub, landingOf } from "./landing";

const landing = (id: string, more: Partial<Landing> = {}): Landing => ({
  id,
  project: "p",
  task: "t",
  activity: "a",
  title: "Add sub",
  branch: "shopfloor/add-sub",
  target: null,
  state: "published",
  detail: null,
  push_only: true,
  commit: null,
  landed: null,
  candidate: null,
  pull_request: null,
  asked_by: null,
  created_at: "2026-11-18T10:00:00Z",
  updated_at: "2026-11-18T10:05:00Z",
  ...more,
});

const floor = (all: Landing[], workspaces: Workspace[] = []) => ({
  landings: new Map(all.map((one) => [one.id, one])),
  workspaces: new Map(workspaces.map((one) => [one.id, one])),
});
const project = "p";

describe("landings", () => {
  it("finds the newest of a task", () => {
    const all = floor([landing("l1"), landing("l2", { state: "refused" }), landing("l3", { task: "other" })]);
    expect(landingOf(all, { project, task: "t" })?.id).toBe("l2");
    expect(landingOf(all, { project, branch: "nowhere" })).toBeUndefined();
  });

  it("does not take a branch of the same name in another project", () => {
    const all = floor([landing("l1"), landing("l2", { project: "q" })]);
    expect(landingOf(all, { project, branch: "shopfloor/add-sub" })?.id).toBe("l1");
    expect(landingOf(all, { project: "r", branch: "shopfloor/add-sub" })).toBeUndefined();
  });

  it("offers to land again only what is not on its way, or newer", () => {
    expect(canAsk(undefined, false)).toBe(true);
    expect(canAsk(landing("l", { state: "refused" }), false)).toBe(true);
    expect(canAsk(landing("l", { state: "queued" }), false)).toBe(false);
    expect(canAsk(landing("l", { state: "landed" }), false)).toBe(false);
    expect(canAsk(landing("l", { state: "landed" }), true)).toBe(true);
  });

  it("knows a task that was reopened and done again", () => {
    const landed = landing("l", { state: "landed" });
    expect(isNewerReport(landed, { at: "2026-11-18T09:59:00Z" })).toBe(false);
    expect(isNewerReport(landed, { at: "2026-11-18T10:06:00Z" })).toBe(true);
    expect(isNewerReport(landed, undefined)).toBe(false);
  });

  const stats = (head: string) =>
    ({
      ahead: 1,
      behind: 0,
      files: 1,
      insertions: 1,
      deletions: 0,
      untracked: 0,
      uncommitted: false,
      unpushed: 1,
      conflicts: [],
      head,
    }) as const;

  it("knows a workspace with new commits", () => {
    const landed = landing("l", { state: "landed", commit: "c1" });
    expect(isNewerWork(landed, { stats: { ...stats("c1"), conflicts: [] } })).toBe(false);
    expect(isNewerWork(landed, { stats: { ...stats("c2"), conflicts: [] } })).toBe(true);
    expect(
      isNewerWork({ ...landed, state: "publishing" }, { stats: { ...stats("c2"), conflicts: [] } }),
    ).toBe(false);
    expect(isNewerWork(landed, { stats: null })).toBe(false);
  });

  it("offers the rest of an activity after one of its tasks has landed", () => {
    const mine = activity("a");
    const [first, second] = [task("t", { status: "done" }), task("u", { status: "done" })];
    const all = floor([landing("l", { state: "landed" })]);
    expect(hasMoreToLand(all, mine, [first])).toBe(false);
    expect(hasMoreToLand(all, mine, [first, second])).toBe(true);
    expect(hasMoreToLand(all, mine, [{ ...first, updated_at: "2026-11-18T11:00:00Z" }])).toBe(true);
    const place = workspace("w", {
      activity: "a",
      branch: "shopfloor/add-sub",
      status: "ready",
      stats: { ...stats("c2"), conflicts: [] },
    });
    const landed = landing("l", { task: null, state: "landed", commit: "c1" });
    expect(hasMoreToLand(floor([landed], [place]), mine, [])).toBe(true);
    expect(hasMoreToLand(floor([{ ...landed, commit: "c2" }], [place]), mine, [])).toBe(false);
  });

  it("offers pull requests on GitHub only", () => {
    for (const there of [
      "https://github.com/a/b.git",
      "git@github.com:a/b",
      "ssh://git@github.com/a/b.git",
      "https://github.com/a/b/",
    ])
      expect(isOnGitHub(there), there).toBe(true);
    for (const elsewhere of ["/home/ann/b", "https://example.org/a/b", "https://github.com/a", ""])
      expect(isOnGitHub(elsewhere), elsewhere).toBe(false);
  });
});
