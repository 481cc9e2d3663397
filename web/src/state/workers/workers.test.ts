import { describe, expect, it } from "vitest";
import type { Change, FromHub, Worker } from "../../protocol";
import { apply } from "../hub/apply";
import { columns } from "../tasks/board";
import { coloursOf } from "../colours";
import { EMPTY, type Floor } from "../hub/floor";
import { look } from "../../lib/layered";
import { entry, escalation, project, session, settings, task, user, worker } from "../testing/samples";
import { needs } from "../needs/needs";
import {
  decisions,
  escalationsFor,
  frozenProjects,
  isDue,
  myFreeze,
  othersFrozen,
  openEscalations,
  sessionColours,
  signOf,
  spentOf,
  tellsNoCost,
  workersOf,
} from "./workers";

const me = { user: user("ann"), observes: null, hub: "h", github: false, version: "0" };
const delta = (seq: number, change: Change): FromHub => ({
  type: "delta",
  seq,
  at: "2026-11-15T10:00:00.000Z",
  change,
});
const sync = (seq: number, ...changes: Change[]): FromHub[] => [
  { type: "welcome", protocol: 1, hub: "h", me, resumed: false },
  { type: "sync", seq, part: 0, last: true, changes },
  { type: "live", seq },
];
const play = (floor: Floor, ...frames: FromHub[]) => frames.reduce(apply, floor);
const start = play(
  EMPTY,
  ...sync(
    1,
    { kind: "project", project: project("p") },
    { kind: "project", project: project("q", { owner: { id: "bo", name: "bo" } }) },
    { kind: "workers", workers: [worker("w", { session: "s1", colour: 2 })] },
    { kind: "work_settings", project: "p", settings: settings() },
  ),
);

describe("tasks", () => {
  it("of one command arrive together, also without an open board", () => {
    const floor = apply(
      start,
      delta(2, { kind: "tasks", tasks: [task("a"), task("b", { status: "done" })] }),
    );
    const board = floor.boards.get("p");
    expect(board?.fresh).toBe(false);
    expect(look(board?.tasks ?? { base: new Map(), recent: new Map() }, "b")?.status).toBe("done");
    expect(floor.seq).toBe(2);
  });

  it("are outdated after a full sync and dropped with their project", () => {
    const open = apply(start, delta(2, { kind: "tasks", tasks: [task("a")] }));
    const known = open.boards.get("p");
    const fresh = {
      ...open,
      boards: new Map([["p", { ...(known as NonNullable<typeof known>), fresh: true }]]),
    };
    const again = play(fresh, ...sync(9, { kind: "project", project: project("p") }));
    expect(again.boards.get("p")?.fresh).toBe(false);
    expect(apply(again, delta(10, { kind: "project_gone", project: "p" })).boards.has("p")).toBe(false);
  });

  it("are on the board before their delta when just added", () => {
    const floor = apply(start, {
      type: "answer",
      id: 1,
      answer: { kind: "added_tasks", value: { tasks: [task("a")], names: [], similar: [] } },
    } as FromHub);
    const board = floor.boards.get("p");
    expect(board && columns(board.tasks, { text: "", worker: null, activity: null }).ready).toHaveLength(1);
  });
});

describe("workers", () => {
  it("are added, updated and removed", () => {
    const changed = apply(
      start,
      delta(2, { kind: "workers", workers: [worker("w", { status: "working" })] }),
    );
    expect(workersOf(changed, "p").map((one) => one.status)).toEqual(["working"]);
    expect(workersOf(apply(changed, delta(3, { kind: "worker_gone", worker: "w" })), "p")).toEqual([]);
  });

  it("of one command arrive together", () => {
    const together = [worker("w", { status: "working" }), worker("v"), worker("o", { project: "q" })];
    const changed = apply(start, delta(2, { kind: "workers", workers: together }));
    expect(workersOf(changed, "p").map((one) => [one.id, one.status])).toEqual([
      ["v", "idle"],
      ["w", "working"],
    ]);
    expect(
      workersOf(start, "p").map((one) => one.id),
      "the earlier state is unchanged",
    ).toEqual(["w"]);
    const synced = play(
      start,
      ...sync(
        9,
        { kind: "project", project: project("p") },
        { kind: "workers", workers: together.slice(0, 2) },
        { kind: "workers", workers: [worker("v", { status: "paused" })] },
      ),
    );
    expect([...synced.workers.values()].map((one) => [one.id, one.status])).toEqual([
      ["w", "working"],
      ["v", "paused"],
    ]);
  });

  it("give their sessions their colour", () => {
    const whose = { id: "w", name: "codex-3", colour: 2 };
    const [one, other] = [session("s1", { worker: whose }), session("s2", { worker: whose })];
    expect(sessionColours(one)).toEqual(sessionColours(other));
    expect(sessionColours(one).accent).toBe("#f59e0b");
    expect(sessionColours(session("s1"))).toEqual(coloursOf("s1"));
  });

  it("keep their places until they are stopped", () => {
    const names = (...workers: Worker[]) =>
      workersOf(play(start, delta(2, { kind: "workers", workers })), "p").map((one) => one.name);
    const order = ["w", "w2", "w10"];
    for (const status of ["idle", "working", "paused", "offline", "spent", "lost", "stopping"] as const) {
      expect(names(worker("w10"), worker("w2", { status })), status).toEqual(order);
      expect(names(worker("w10", { status }), worker("w2")), status).toEqual(order);
    }
    expect(names(worker("w10"), worker("w2", { status: "stopped" }))).toEqual(["w", "w10", "w2"]);
  });

  it("are due when their pause is over", () => {
    const until = "2026-11-15T10:00:00.000Z";
    expect(isDue({ until }, Date.parse(until) - 1)).toBe(false);
    expect(isDue({ until }, Date.parse(until))).toBe(true);
    expect(isDue({ until: null }, Date.parse(until))).toBe(false);
  });

  it("have a used part of their budget", () => {
    expect(spentOf(500, 1_000)).toBe(0.5);
    expect(spentOf(null, 1_000)).toBe(0);
    expect(spentOf(2_000, 1_000)).toBe(1);
    expect(spentOf(500, null)).toBeNull();
  });

  it("have unknown cost when they reported only tokens", () => {
    const nothing = { input_tokens: 0, cached_tokens: 0, output_tokens: 0, cost_micros: null };
    expect(tellsNoCost(nothing), "nothing was used").toBe(false);
    expect(tellsNoCost({ ...nothing, output_tokens: 5 })).toBe(true);
    expect(tellsNoCost({ ...nothing, input_tokens: 5 })).toBe(true);
    expect(tellsNoCost({ ...nothing, input_tokens: 5, cost_micros: 0 }), "it is free").toBe(false);
  });
});

describe("decisions", () => {
  it("are sorted newest first, without duplicates", () => {
    const floor = play(
      start,
      delta(2, { kind: "work_entry", entry: entry(4) }),
      delta(3, { kind: "work_entry", entry: entry(5) }),
      delta(3, { kind: "work_entry", entry: entry(5) }),
    );
    const heard = floor.decisions.get("p") ?? [];
    expect(heard.map((one) => one.number)).toEqual([5, 4]);
    expect(decisions([entry(4), entry(3)], heard).map((one) => one.number)).toEqual([5, 4, 3]);
  });
});

describe("escalations", () => {
  const asked = play(
    start,
    delta(2, { kind: "escalation", escalation: escalation("e1") }),
    delta(3, { kind: "escalation", escalation: escalation("e2", { project: "q" }) }),
    delta(4, { kind: "escalation", escalation: escalation("e3", { project: "q", worker: "w" }) }),
  );

  it("are for the owners of the project and the worker", () => {
    expect(openEscalations(asked)).toHaveLength(3);
    expect(escalationsFor(asked).map((one) => one.id)).toEqual(["e1", "e3"]);
    expect(needs(asked)[0]).toMatchObject({ kind: "escalation", escalation: { id: "e1" } });
  });

  it("stay answered when an outdated answer arrives", () => {
    const answered = escalation("e1", { answered_at: "2026-11-15T11:00:00.000Z", answer: "yes" });
    const done = apply(asked, delta(5, { kind: "escalation", escalation: answered }));
    expect(openEscalations(done, "p")).toEqual([]);
    const late = apply(done, {
      type: "answer",
      id: 1,
      answer: { kind: "escalation", value: escalation("e1") },
    } as FromHub);
    expect(openEscalations(late, "p")).toEqual([]);
  });
});

describe("stop everything", () => {
  it("shows in the settings of projects", () => {
    expect(frozenProjects(start)).toEqual([]);
    const frozen = apply(
      start,
      delta(2, { kind: "work_settings", project: "p", settings: settings({ frozen: true }) }),
    );
    expect(frozenProjects(frozen).map((one) => one.id)).toEqual(["p"]);
    expect(myFreeze(frozen)).toMatchObject({ projects: [{ id: "p" }], workers: 0 });
  });

  it("shows the names of others", () => {
    const ada = { id: "ada", name: "Ada" };
    const me = { id: start.me?.user?.id ?? "", name: "Me" };
    const frozen = apply(
      start,
      delta(2, { kind: "work_settings", project: "p", settings: settings({ frozen_by: [ada, me] }) }),
    );
    expect(othersFrozen(frozen, "p")).toEqual([ada]);
    expect(othersFrozen(start, "p")).toEqual([]);
  });

  it("shows in this person's workers in other projects", () => {
    const reason = "everything was stopped: thaw to continue";
    const mine = worker("x", { project: "q", status: "paused", reason });
    const limited = worker("y", {
      project: "q",
      status: "paused",
      reason: "rate limit",
      until: "2026-11-15T12:00:00.000Z",
    });
    const floor = play(start, delta(2, { kind: "workers", workers: [mine, limited] }));
    expect(myFreeze(floor)).toEqual({ projects: [], workers: 1 });
    expect(myFreeze(start)).toBeNull();
  });
});

describe("the last heartbeat of a worker", () => {
  it("is labelled by kind and task", () => {
    expect(signOf({ kind: "managed", task: null })).toBe("last active");
    expect(signOf({ kind: "managed", task: "tsk_1" })).toBe("last seen");
    expect(signOf({ kind: "external", task: null })).toBe("last seen");
  });
});
