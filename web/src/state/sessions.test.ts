import { describe, expect, it } from "vitest";
import { costOf, lengthOf, sizeOf, tokensOf } from "./amounts";
import { coloursOf } from "./colours";
import { EMPTY, type Floor } from "./floor";
import { parseRoute, pathOf } from "./route";
import { liveOf, liveSession, newWaits, sessionsOf, waitingFor, waitKey } from "./sessions";
import { project, runner, session, status, user } from "./testing/samples";
import { needs } from "./tree";

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

describe("attention", () => {
  it("is called by one's own waiting sessions, the longest wait first, before all else", () => {
    expect(waitingFor(floor).map((one) => one.id)).toEqual(["asked-before", "asks"]);
    expect(needs(floor).map((need) => need.kind)).toEqual(["waiting", "waiting"]);
    expect(waitingFor({ ...floor, me: { ...me, user: null } })).toEqual([]);
  });

  it("is called once for each wait", () => {
    const told = new Set(waitingFor(floor).map(waitKey));
    expect(newWaits(told, waitingFor(floor))).toEqual([]);
    const again = session("asks", { state: status("waiting", { since: "2026-11-15T11:00:00.000Z" }) });
    expect(newWaits(told, [again])).toEqual([again]);
  });

  it("is not called by one that is being stopped", () => {
    const stopping = session("asks", { state: status("waiting"), stopping: true });
    expect(waitingFor({ ...floor, sessions: new Map([["asks", stopping]]) })).toEqual([]);
  });
});

describe("a session", () => {
  it("says what it is at, and for whom it waits", () => {
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

  it("says how it ended", () => {
    expect(shown(floor, session("x", { state: status("exited", { code: 0 }) }))).toBe("Finished");
    expect(shown(floor, session("x", { state: status("exited", { code: 2 }) }))).toBe("Exited with 2");
    expect(shown(floor, session("x", { state: status("exited", { signal: 9 }) }))).toBe("Killed by signal 9");
    expect(shown(floor, session("x", { state: status("lost") }))).toBe("Lost");
  });

  it("is never dead because its runner is unreachable", () => {
    expect(liveOf(cut, session("x"))).toMatchObject({ word: "Last seen working", tone: "offline" });
    expect(shown(cut, session("x", { state: status("exited", { code: 0 }) }))).toBe("Finished");
  });

  it("stands for its activity while it runs", () => {
    expect(liveSession(floor, "a")?.state.status).toBe("waiting");
    expect(sessionsOf(floor, { activity: "a" }).at(-1)?.id).toBe("done");
    expect(sessionsOf(floor, { activity: "b" })).toEqual([]);
  });

  it("has one colour, and many have many", () => {
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

describe("amounts", () => {
  it("are short and have their unit", () => {
    expect([0, 999, 1_500, 123_456_789].map(sizeOf)).toEqual(["0 B", "999 B", "1.5 kB", "123 MB"]);
    expect([12, 1_234, 56_789, 1_234_567].map(tokensOf)).toEqual(["12", "1.2k", "57k", "1.23M"]);
    expect([0, 1_200, 2_500_000].map(costOf)).toEqual(["$0.00", "$0.0012", "$2.50"]);
    expect([0, 61_000, 3_661_000].map(lengthOf)).toEqual(["0:00", "1:01", "1:01:01"]);
  });
});

describe("places", () => {
  it("of terminals and recordings have addresses that name them", () => {
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
