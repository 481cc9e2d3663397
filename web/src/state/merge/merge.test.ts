import { describe as about, duration, queued } from "./merge";
import type { Candidate, MergeQueue, MergeRun } from "../../protocol";
import { describe, expect, it } from "vitest";

const queue = (target: string, more: Partial<MergeQueue> = {}): MergeQueue => ({
  project: "prj_1",
  target,
  gate: "open",
  reason: null,
  tip: null,
  candidates: [],
  runs: [],
  failure_percent: 10,
  flaky: 0,
  check_ms: null,
  expected_at: null,
  no_checks: false,
  ...more,
});

describe("merge queues", () => {
  it("replaces the queue that moved and keeps the others", () => {
    const both = queued(queued(new Map(), queue("main")), queue("dev"));
    const moved = queued(both, queue("main", { gate: "paused" }));
    expect(moved.get("prj_1")?.map((one) => [one.target, one.gate])).toEqual([
      ["dev", "open"],
      ["main", "paused"],
    ]);
  });

  it("says what is tested with what", () => {
    const candidates = [
      { id: "cnd_1", branch: "a" },
      { id: "cnd_2", branch: "b" },
    ] as Candidate[];
    const run = { purpose: "search", candidates: ["cnd_1", "cnd_2"] } as unknown as MergeRun;
    expect(about(run, candidates)).toEqual({ what: "Testing together", branches: ["a", "b"] });
    expect(about({ ...run, candidates: ["cnd_2"] }, candidates).what).toBe("Testing");
  });

  it("rounds durations", () => {
    expect([duration(45_000), duration(180_000), duration(9_000_000)]).toEqual(["45 s", "3 min", "2.5 h"]);
  });
});
