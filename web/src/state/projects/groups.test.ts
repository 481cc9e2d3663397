import { expect, it } from "vitest";
import { EMPTY, type Floor } from "../hub/floor";
import { activity, project, session, status, user, worker } from "../testing/samples";
import { failedIn, groupOf } from "./groups";
import { owners } from "./tree";

const exited = (code = 0) => status("exited", { code });
const floor: Floor = {
  ...EMPTY,
  me: { user: user("ann"), observes: null, hub: "h", github: false, version: "0" },
  projects: new Map([["p", project("p")]]),
  activities: new Map(
    [
      activity("planned"),
      activity("running"),
      activity("over"),
      activity("failed"),
      activity("blocked", { status: "blocked" }),
      activity("done", { status: "completed" }),
    ].map((one) => [one.id, one]),
  ),
  sessions: new Map(
    [
      session("a", { activity: "running" }),
      session("b", { activity: "running", state: exited() }),
      session("c", { activity: "over", state: exited() }),
      session("d", { activity: "failed", state: exited(3) }),
      session("e", { activity: "blocked", state: exited() }),
      session("f", { activity: "done", state: exited() }),
    ].map((one) => [one.id, one]),
  ),
};

it("an activity whose sessions have all ended is not open work", () => {
  const [branch] = owners(floor)[0]?.branches ?? [];
  const ids = (of: "open" | "ended" | "finished") => branch?.[of].map((one) => one.id).sort();
  expect(ids("open")).toEqual(["blocked", "planned", "running"]);
  expect(ids("ended")).toEqual(["failed", "over"]);
  expect(ids("finished")).toEqual(["done"]);
  expect(failedIn(floor, branch?.ended ?? [])).toBe(1);
});

it("work of a worker stays open while the project has workers", () => {
  const by = { id: "k", name: "codex-1", colour: 0 };
  const over = activity("over");
  const sessions = new Map([["c", session("c", { activity: "over", state: exited(), worker: by })]]);
  expect(groupOf({ ...floor, sessions }, over)).toBe("ended");
  const up = { ...floor, sessions, workers: new Map([["k", worker("k")]]) };
  expect(groupOf(up, over)).toBe("open");
  const stopped = { ...up, workers: new Map([["k", worker("k", { status: "stopped" })]]) };
  expect(groupOf(stopped, over)).toBe("ended");
});
