import { describe, expect, it } from "vitest";
import type { CheckedOut } from "../../protocol";
import { costOf, countOf, lengthOf, sizeOf, tokensOf } from "../../lib/amounts";
import { coloursOf } from "../colours";
import { EMPTY, type Floor } from "../hub/floor";
import { parseRoute, pathOf } from "../shell/route";
import {
  absentRunner,
  checkedOutInstead,
  failedSession,
  failedSessions,
  liveOf,
  liveSession,
  neverStarted,
  newWaits,
  sessionsOf,
  startsFirst,
  toldWaits,
  waitingFor,
  waitKey,
} from "./sessions";
import { activity, project, runner, session, status, user, workspace } from "../testing/samples";
import { needs } from "../needs/needs";

const bo = { id: "bo", name: "bo" };
const me = { user: user("ann"), observes: null, hub: "h", github: false, version: "0" };
const floor: Floor = {
  ...EMPTY,
  me,
  projects: new Map([["p", project("p")]]),
  runners: new Map([["r", runner("r")]]),
  sessions: new Map(
    [
      session("working"),
      session("asks", {
        state: status("waiting", { detail: "permission", since: "2026-11-15T10:05:00.000Z" }),
      }),
      session("asked-before", { state: status("waiting") }),
      session("theirs", { owner: bo, state: status("waiting") }),
      session("done", { state: status("exited", { code: 0 }) }),
    ].map((one) => [one.id, one]),
  ),
};
const cut = { ...floor, runners: new Map([["r", runner("r", { connected: false })]]) };
const shown = (on: Floor, one: ReturnType<typeof session>) => liveOf(on, one).word;

describe("waiting sessions", () => {
  it("are own sessions, oldest wait first, before other needs", () => {
    expect(waitingFor(floor).map((one) => one.id)).toEqual(["asked-before", "asks"]);
    expect(needs(floor).map((need) => need.kind)).toEqual(["waiting", "waiting"]);
    expect(waitingFor({ ...floor, me: { ...me, user: null } })).toEqual([]);
  });

  it("notify once per wait", () => {
    const told = new Set(waitingFor(floor).map(waitKey));
    expect(newWaits(told, waitingFor(floor))).toEqual([]);
    const again = session("asks", { state: status("waiting", { since: "2026-11-15T11:00:00.000Z" }) });
    expect(newWaits(told, [again])).toEqual([again]);
  });

  it("exclude those with an offline runner", () => {
    expect(waitingFor(cut)).toEqual([]);
    expect(needs(cut)).toEqual([]);
    // One notification per wait, even if the runner reconnects; a wait that started meanwhile is notified then.
    const told = new Set(toldWaits(new Set(), floor));
    expect(toldWaits(told, cut)).toEqual([...told]);
    expect(toldWaits(new Set(), cut)).toEqual([]);
  });

  it("exclude those that are stopping", () => {
    const stopping = session("asks", { state: status("waiting"), stopping: true });
    expect(waitingFor({ ...floor, sessions: new Map([["asks", stopping]]) })).toEqual([]);
  });
});

describe("a session", () => {
  it("has a label for its state", () => {
    expect(shown(floor, session("x"))).toBe("Working");
    expect(liveOf(floor, session("x", { state: status("waiting", { detail: "permission" }) }))).toMatchObject(
      {
        word: "Waiting for you",
        tone: "waiting",
        detail: "permission",
      },
    );
    expect(shown(floor, session("x", { owner: bo, state: status("waiting") }))).toBe("Waiting");
  });

  it("has a label for its end", () => {
    expect(shown(floor, session("x", { state: status("exited", { code: 0 }) }))).toBe("Finished");
    expect(shown(floor, session("x", { state: status("exited", { code: 2 }) }))).toBe("Failed (exit 2)");
    expect(shown(floor, session("x", { state: status("exited", { signal: 9 }) }))).toBe("Failed (signal 9)");
    expect(shown(floor, session("x", { state: status("lost") }))).toBe("Lost");
  });

  it("has failed and has no recording when it never started", () => {
    const never = session("x", { state: status("exited", { detail: "there is no repository" }) });
    expect(liveOf(floor, never)).toMatchObject({
      tone: "failed",
      word: "Did not start",
      detail: "there is no repository",
    });
    expect(neverStarted(never)).toBe(true);
    expect(shown(floor, { ...never, stopping: true })).toBe("Stopped");

    const recording = { output_bytes: 9, disk_bytes: 90, duration_ms: 5, keep: false };
    const forgotten = { ...never, recording };
    expect([neverStarted(forgotten), shown(floor, forgotten)]).toEqual([false, "Ended"]);
    for (const state of [
      status("exited", { code: 0 }),
      status("exited", { signal: 9 }),
      status("lost", { detail: "its host is gone" }),
      status("starting", { detail: "the workspace is made" }),
    ])
      expect(neverStarted(session("x", { state })), state.status).toBe(false);
  });

  it("has an absent runner while that is offline, also when it has ended", () => {
    const over = session("x", { state: status("exited", { code: 0 }) });
    expect(absentRunner(cut, over)?.id).toBe("r");
    expect(absentRunner(floor, over)).toBeNull();
  });

  it("has not ended because its runner is offline", () => {
    expect(liveOf(cut, session("x"))).toMatchObject({ word: "Last seen working", tone: "offline" });
    expect(shown(cut, session("x", { state: status("exited", { code: 0 }) }))).toBe("Finished");
  });

  it("represents its activity while it runs", () => {
    expect(liveSession(floor, "a")?.state.status).toBe("waiting");
    expect(sessionsOf(floor, { activity: "a" }).at(-1)?.id).toBe("done");
    expect(sessionsOf(floor, { activity: "b" })).toEqual([]);
  });

  it("is shown as failed when it was not retried", () => {
    const failed = session("failed", { state: status("exited", { code: 3 }) });
    const later = "2026-11-15T12:00:00.000Z";
    const on = (...more: ReturnType<typeof session>[]): Floor => ({
      ...floor,
      activities: new Map([["a", activity("a")]]),
      sessions: new Map([failed, ...more].map((one) => [one.id, one])),
    });
    expect(failedSession(on(), "a")?.id).toBe("failed");
    expect(failedSessions(on()).map((one) => one.id)).toEqual(["failed"]);
    for (const next of [
      session("again", { created_at: later }),
      session("fine", { created_at: later, state: status("exited", { code: 0 }) }),
    ])
      expect(failedSessions(on(next)), next.id).toEqual([]);
    const done = new Map([["a", activity("a", { status: "completed" })]]);
    expect(failedSessions({ ...on(), activities: done })).toEqual([]);
    // Workers retry automatically.
    const worker = { id: "w", name: "w", colour: 0 };
    const theirs = { ...failed, worker };
    expect(failedSession({ ...on(), sessions: new Map([[theirs.id, theirs]]) }, "a")).toBeUndefined();
  });

  it("is the first one of a person without sessions", () => {
    expect(startsFirst(floor)).toBe(false);
    expect(startsFirst({ ...floor, me: { ...me, user: user("cy") } })).toBe(true);
    expect(startsFirst({ ...floor, me: { ...me, user: null } })).toBe(false);
  });

  it("has a stable colour, and many sessions have many", () => {
    expect(coloursOf("ses_1")).toEqual(coloursOf("ses_1"));
    const counts = new Map<string, number>();
    for (let at = 0; at < 1_200; at++) {
      const { accent } = coloursOf(
        `ses_01a1e1c8${(4_656_496 + at * 977).toString(16)}eb8c992b7e777b${at % 97}`,
      );
      counts.set(accent, (counts.get(accent) ?? 0) + 1);
    }
    expect(counts.size).toBe(12);
    expect(Math.max(...counts.values())).toBeLessThan(200);
  });
});

describe("a workspace", () => {
  it("shows what is checked out instead of its branch", () => {
    const numbers = { ahead: 0, behind: 0, files: 0, insertions: 0, deletions: 0, untracked: 0, unpushed: 0 };
    const instead = (checked_out?: CheckedOut) =>
      checkedOutInstead(
        workspace("w", {
          branch: "own",
          stats: { ...numbers, uncommitted: false, conflicts: [], checked_out },
        }),
      );
    expect(instead()).toBeNull();
    expect(instead({ kind: "branch", name: "own" })).toBeNull();
    expect(instead({ kind: "branch", name: "other" })).toBe("other");
    expect(instead({ kind: "commit" })).toBe("a commit");
  });
});

describe("amounts", () => {
  it("are short and have units", () => {
    expect([0, 999, 1_500, 123_456_789].map(sizeOf)).toEqual(["0 B", "999 B", "1.5 kB", "123 MB"]);
    expect([0, 50, 51].map((count) => countOf(count, 50))).toEqual(["0", "50", "50+"]);
    expect([12, 1_234, 56_789, 1_234_567].map(tokensOf)).toEqual(["12", "1.2k", "57k", "1.23M"]);
    expect([0, 1_200, 2_500_000].map(costOf)).toEqual(["$0.00", "$0.0012", "$2.50"]);
    expect([0, 61_000, 3_661_000].map(lengthOf)).toEqual(["0:00", "1:01", "1:01:01"]);
  });
});

describe("routes", () => {
  it("of terminals and recordings survive their URL", () => {
    for (const path of [
      "/terminals",
      "/p/prj_1/terminals",
      "/p/prj_1/recordings",
      "/recordings",
      "/s/ses_1",
      "/s/ses_1/recording",
      "/s/ses_1/recording?t=5000",
    ]) {
      const [pathname, search] = path.split("?");
      expect(pathOf(parseRoute(pathname ?? "", search ? `?${search}` : ""))).toBe(path);
    }
    expect(parseRoute("/s/ses_1/else")).toEqual({ name: "lost" });
    expect(parseRoute("/s/ses_1/recording", "?t=-3")).toMatchObject({ at: 0 });
  });
});
