import { describe as about, duration, flakyOf, needsPerson, queued, searchOf, signsOf } from "./merge";
import type { Candidate, MergeQueue, MergeRun } from "../../protocol";
import { candidate, mergeQueue, project } from "../testing/samples";
import { describe, expect, it } from "vitest";

const queue = (target: string, more: Partial<MergeQueue> = {}) =>
  mergeQueue({ project: "prj_1", target, ...more });

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

  it("say on the floor that they stand still or wait for a person", () => {
    const held = candidate("c", { state: "needs_person", added_by: { id: "bo", name: "bo" } });
    expect(signsOf([queue("main")])).toEqual([]);
    expect(signsOf([queue("main", { candidates: [held] })])).toMatchObject([
      { tone: "waiting", word: "1 branch to confirm" },
    ]);
    const paused = queue("main", { gate: "paused", reason: "paused by ann", candidates: [held, held] });
    expect(signsOf([paused])).toEqual([
      {
        target: "main",
        tone: "blocked",
        word: "Merge queue paused, 2 waiting",
        why: "paused by ann",
      },
    ]);
    expect(signsOf([queue("main", { gate: "tip_red" })])).toMatchObject([{ tone: "failed" }]);
  });

  it("need the project's owner, and who added a branch", () => {
    const held = candidate("c", { state: "needs_person", added_by: { id: "bo", name: "bo" } });
    const [home, waits] = [project("prj_1"), queue("main", { candidates: [held] })];
    expect(["ann", "bo", "eve"].filter((me) => needsPerson(waits, home, me))).toEqual(["ann", "bo"]);
    const moves = queue("main", { candidates: [{ ...held, state: "testing" }] });
    expect(needsPerson(moves, home, "ann")).toBe(false);
    expect(needsPerson(queue("main", { gate: "paused" }), home, "ann")).toBe(false);
    expect(needsPerson({ ...moves, gate: "frozen" }, home, "ann")).toBe(true);
    expect(needsPerson(queue("main", { gate: "tip_red" }), home, "ann")).toBe(true);
  });

  it("say where the search for a failing branch stands", () => {
    const candidates = ["a", "b"].map((id) => candidate(id, { branch: `branch-${id}` }));
    const said = (more: Partial<MergeQueue>) => searchOf(queue("main", { candidates, ...more }));
    expect(said({})).toBeNull();
    expect(said({ failed_together: ["a", "b"] })).toBe(
      "At least one of `branch-a`, `branch-b` fails; the next runs find out which.",
    );
    expect(said({ failed_together: ["a"] })).toBe("`branch-a` failed; `main` is tested without it next.");
    expect(said({ failed_together: ["a"], suspects: ["b"] })).toBe(
      "`branch-b` failed; it is tested once more alone before it is sent back.",
    );
  });

  it("name the checks that are flaky", () => {
    expect(flakyOf(queue("main"))).toBeNull();
    const flaky_checks = [{ argv: ["make", "test"], runs: 1 }];
    expect(flakyOf(queue("main", { flaky: 1, flaky_checks }))).toBe("1 flaky run of `make test`");
  });

  it("rounds durations", () => {
    expect([duration(45_000), duration(180_000), duration(9_000_000)]).toEqual(["45 s", "3 min", "2.5 h"]);
  });
});
