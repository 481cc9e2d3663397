import { describe, expect, it } from "vitest";
import { needs } from "../state/needs/needs";
import { EMPTY, type Floor } from "../state/hub/floor";
import { activity, project, session, status, user } from "../state/testing/samples";
import { titleFor } from "./place";

const floor: Floor = {
  ...EMPTY,
  me: { user: user("ann"), observes: null, hub: "h", github: false, version: "0" },
  projects: new Map([["p", project("p")]]),
  activities: new Map([["stuck", activity("stuck", { status: "blocked" })]]),
  sessions: new Map([["s", session("s", { state: status("waiting") })]]),
  unread: new Map([["p", { project: "p", read: 0, count: 3, mentions: 1 }]]),
};

describe("the title of the tab", () => {
  it("counts what the box on the floor lists: also mentions and blocked activities", () => {
    expect(needs(floor).map((need) => need.kind)).toEqual(["waiting", "mention", "blocked"]);
    expect(titleFor(floor, { name: "home" })).toBe("(3 need you) Shopfloor");
  });

  it("counts unread messages when nothing needs this person", () => {
    const quiet = { ...floor, sessions: new Map(), activities: new Map() };
    const unread = { project: "p", read: 0, count: 3, mentions: 0 };
    expect(titleFor({ ...quiet, unread: new Map([["p", unread]]) }, { name: "home" })).toBe("(3) Shopfloor");
    expect(titleFor({ ...quiet, unread: new Map() }, { name: "home" })).toBe("Shopfloor");
  });
});
