import { describe, expect, it } from "vitest";
import { canGovern, canWrite } from "./access";
import { EMPTY, type Floor } from "../hub/floor";
import { needs } from "../needs/needs";
import { activity, project, user } from "../testing/samples";
import { owners, unreadTotal, watchers } from "./tree";

const me = { user: user("ann"), observes: null, hub: "h", github: false, version: "0" };
const bo = { id: "bo", name: "bo" };
const floor: Floor = {
  ...EMPTY,
  me,
  users: new Map([["bo", user("bo", { name: "Bo Renamed" })]]),
  projects: new Map([
    ["q", project("q", { owner: bo, visibility: "read-only" })],
    ["p", project("p")],
  ]),
  activities: new Map([
    ["done", activity("done", { status: "completed" })],
    ["a", activity("a")],
    ["stuck", activity("stuck", { status: "blocked", owner: bo })],
    ["theirs", activity("theirs", { project: "q", status: "blocked", owner: bo })],
  ]),
  unread: new Map([["q", { project: "q", read: 0, count: 3, mentions: 1 }]]),
  presence: new Map([["bo", { user: "bo", connected: true, places: [{ project: "p", activity: "a" }] }]]),
};

describe("the sidebar", () => {
  it("lists own projects first, blocked before active activities, and current names", () => {
    const [mine, theirs] = owners(floor);
    expect(mine).toMatchObject({ mine: true, branches: [{ project: { id: "p" } }] });
    expect(mine?.branches[0]?.open.map((one) => one.id)).toEqual(["stuck", "a"]);
    expect(mine?.branches[0]?.finished.map((one) => one.id)).toEqual(["done"]);
    expect(theirs).toMatchObject({ name: "Bo Renamed", branches: [{ unread: { mentions: 1 } }] });
  });

  it("needs this person for mentions and own blocked activities", () => {
    expect(
      needs(floor).map((need) => (need.kind === "blocked" ? need.activity.id : need.project.id)),
    ).toEqual(["q", "stuck"]);
    expect(needs({ ...floor, me: { ...me, user: null } })).toEqual([]);
  });

  it("counts all unread messages", () => {
    expect(unreadTotal(floor)).toEqual({ count: 3, mentions: 1 });
  });

  it("knows who is viewing what", () => {
    expect(watchers(floor, "p").map((one) => one.id)).toEqual(["bo"]);
    expect(watchers(floor, "p", "a")).toHaveLength(1);
    expect(watchers(floor, "p", "stuck")).toHaveLength(0);
  });
});

describe("access", () => {
  const theirs = project("q", { owner: bo });

  it("follows owner and visibility", () => {
    expect(canWrite(me, project("p", { visibility: "private" }))).toBe(true);
    expect(canWrite(me, { ...theirs, visibility: "read-write" })).toBe(true);
    expect(canWrite(me, { ...theirs, visibility: "read-only" })).toBe(false);
    expect(canWrite({ ...me, user: null }, { ...theirs, visibility: "read-write" })).toBe(false);
    expect(canGovern(me, theirs)).toBe(false);
  });
});
