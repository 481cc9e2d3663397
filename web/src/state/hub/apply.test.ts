import { describe, expect, it } from "vitest";
import type { Change, FromHub, MergeQueue } from "../../protocol";
import { apply } from "./apply";
import { newestPage, UNREAD_CHAT } from "../chat/chat";
import { EMPTY, type Floor } from "./floor";
import { activity, mergeQueue, message, project, session, status, user, workspace } from "../testing/samples";

const me = { user: user("ann"), observes: null, hub: "h", github: false, version: "0" };

function play(floor: Floor, ...frames: FromHub[]): Floor {
  return frames.reduce(apply, floor);
}

function welcome(resumed = false, hub = "h"): FromHub {
  return { type: "welcome", protocol: 1, hub, me, resumed };
}

function sync(seq: number, part: number, last: boolean, ...changes: Change[]): FromHub {
  return { type: "sync", seq, part, last, changes };
}

function delta(seq: number, change: Change): FromHub {
  return { type: "delta", seq, at: "2026-11-15T10:00:00.000Z", change };
}

function live(seq: number): FromHub {
  return { type: "live", seq };
}

const unread = (read: number, count = 0, mentions = 0): Change => ({
  kind: "unread",
  unread: { project: "p", read, count, mentions },
});

const start = play(
  EMPTY,
  welcome(),
  sync(5, 0, true, { kind: "project", project: project("p") }, { kind: "user", user: user("bo") }, unread(2)),
  live(5),
);

describe("sync", () => {
  it("is shown after its last part", () => {
    const half = play(start, welcome(), sync(9, 0, false, { kind: "project", project: project("q") }));
    expect([...half.projects.keys()]).toEqual(["p"]);
    const whole = apply(
      half,
      sync(9, 1, true, { kind: "activity", activity: activity("a", { project: "q" }) }),
    );
    expect([...whole.projects.keys()]).toEqual(["q"]);
    expect([...whole.activities.keys()]).toEqual(["a"]);
    expect(whole.seq).toBe(9);
  });

  it("has the merge queues that hold something, and follows them", () => {
    const queue = (target: string, gate: MergeQueue["gate"]): Change => ({
      kind: "merge_queue",
      queue: mergeQueue({ target, gate }),
    });
    const whole = play(
      start,
      delta(6, queue("old", "paused")),
      welcome(),
      sync(
        9,
        0,
        true,
        { kind: "project", project: project("p") },
        queue("main", "frozen"),
        queue("dev", "open"),
      ),
    );
    expect(whole.merges.get("p")?.map((one) => one.target)).toEqual(["dev", "main"]);
    const moved = apply(whole, delta(10, queue("main", "open")));
    expect(moved.merges.get("p")?.map((one) => one.gate)).toEqual(["open", "open"]);
    expect(apply(moved, delta(11, { kind: "project_gone", project: "p" })).merges.size).toBe(0);
  });

  it("leaves the old state when it is interrupted", () => {
    const broken = play(start, welcome(), sync(9, 0, false, { kind: "project", project: project("q") }));
    const again = play(broken, welcome(), sync(10, 0, true, { kind: "project", project: project("r") }));
    expect([...again.projects.keys()]).toEqual(["r"]);
  });

  it("marks chats as outdated and drops those of deleted projects", () => {
    const chats = new Map([
      ["p", newestPage(UNREAD_CHAT, [message(1)], 50)],
      ["gone", newestPage(UNREAD_CHAT, [message(1)], 50)],
    ]);
    const next = play({ ...start, chats }, sync(9, 0, true, { kind: "project", project: project("p") }));
    expect([...next.chats.keys()]).toEqual(["p"]);
    expect(next.chats.get("p")).toMatchObject({ fresh: false, messages: [{ number: 1 }] });
  });

  it("of another hub clears the state", () => {
    const next = apply(start, welcome(false, "other"));
    expect(next.projects.size).toBe(0);
    expect(next.hub).toBe("other");
  });
});

describe("deltas", () => {
  it("are idempotent, and outdated ones are ignored", () => {
    const change = delta(6, { kind: "activity", activity: activity("a", { status: "blocked" }) });
    const once = apply(start, change);
    expect(apply(once, change)).toEqual(once);
    expect(apply(once, delta(4, { kind: "activity", activity: activity("a") }))).toBe(once);
  });

  it("of one commit share a sequence number", () => {
    const next = play(
      start,
      delta(6, { kind: "project", project: project("q") }),
      delta(6, { kind: "activity", activity: activity("a", { project: "q" }) }),
    );
    expect(next.activities.has("a")).toBe(true);
  });

  it("of an unknown kind are skipped, but their sequence number counts", () => {
    const later = { kind: "weather", weather: { rain: true } } as unknown as Change;
    const next = apply(start, delta(6, later));
    expect(next).toEqual({ ...start, seq: 6 });
    const synced = play(
      EMPTY,
      welcome(),
      sync(5, 0, true, later, { kind: "project", project: project("p") }),
      live(5),
    );
    expect([...synced.projects.keys()]).toEqual(["p"]);
  });

  it("after a resume are applied to the existing state", () => {
    const next = play(start, welcome(true), delta(6, { kind: "user", user: user("chidi") }), live(7));
    expect([...next.users.keys()]).toEqual(["bo", "chidi"]);
    expect(next.seq).toBe(7);
  });

  it("remove a project with its content", () => {
    const full = play(
      { ...start, chats: new Map([["p", UNREAD_CHAT]]) },
      delta(6, { kind: "activity", activity: activity("a") }),
      delta(7, { kind: "activity", activity: activity("b", { project: "q" }) }),
      delta(8, { kind: "project_gone", project: "p" }),
    );
    expect(full.projects.size).toBe(0);
    expect([...full.activities.keys()]).toEqual(["b"]);
    expect(full.unread.size).toBe(0);
    expect(full.chats.size).toBe(0);
  });

  it("also rename this person", () => {
    const next = apply(start, delta(6, { kind: "user", user: user("ann", { name: "Ann" }) }));
    expect(next.me?.user?.name).toBe("Ann");
  });
});

describe("unread", () => {
  const said = (seq: number, number: number, more = {}) =>
    delta(seq, { kind: "message", message: message(number, more), key: null });
  const count = (floor: Floor) => floor.unread.get("p");

  it("counts messages by others and mentions", () => {
    const next = play(start, said(6, 3), said(7, 4, { mentions: ["ann"] }));
    expect(count(next)).toMatchObject({ read: 2, count: 2, mentions: 1 });
  });

  it("does not count own messages, edits, deletions or repetitions", () => {
    const next = play(
      start,
      said(6, 3),
      said(6, 3),
      said(7, 4, { author: { id: "ann", name: "ann" } }),
      said(8, 3, { edited_at: "2026-11-15T11:00:00.000Z" }),
      said(9, 3, { deleted_at: "2026-11-15T11:00:00.000Z", content: "" }),
    );
    expect(count(next)).toMatchObject({ count: 1 });
  });

  it("does not count the edit of an old message", () => {
    expect(count(apply(start, said(6, 3, { edited_at: "2026-11-15T11:00:00.000Z" })))).toMatchObject({
      count: 0,
    });
  });

  it("is replaced by the hub's value", () => {
    expect(count(play(start, said(6, 3), delta(7, unread(3))))).toMatchObject({ read: 3, count: 0 });
  });
});

describe("presence", () => {
  const here = (id: string, connected = true) => ({ user: id, connected, places: [] });

  it("is added, removed and reset", () => {
    const two = apply(start, { type: "presence", reset: true, entries: [here("ann"), here("bo")] });
    expect([...two.presence.keys()]).toEqual(["ann", "bo"]);
    const one = apply(two, { type: "presence", reset: false, entries: [here("bo", false)] });
    expect([...one.presence.keys()]).toEqual(["ann"]);
    expect(apply(one, { type: "presence", reset: true, entries: [] }).presence.size).toBe(0);
  });
});

describe("answers", () => {
  const answer = (updated_at: string): FromHub => ({
    type: "answer",
    id: 1,
    answer: { kind: "activity", value: activity("a", { content: updated_at, updated_at }) },
  });

  it("are applied unless the state is newer", () => {
    const known = apply(start, answer("2026-11-15T10:00:02.000Z"));
    expect(known.activities.get("a")?.content).toBe("2026-11-15T10:00:02.000Z");
    expect(apply(known, answer("2026-11-15T10:00:01.000Z"))).toBe(known);
  });
});

describe("execution", () => {
  const bo = { id: "bo", name: "bo" };
  const busy = play(
    start,
    sync(
      6,
      0,
      true,
      { kind: "project", project: project("p") },
      { kind: "workspace", workspace: workspace("w") },
      { kind: "session", session: session("mine") },
    ),
    delta(7, { kind: "session", session: session("theirs", { owner: bo }) }),
    delta(8, { kind: "workspace", workspace: workspace("v", { owner: bo }) }),
  );

  it("is part of sync and deltas", () => {
    expect([...busy.sessions.keys()]).toEqual(["mine", "theirs"]);
    const next = apply(
      busy,
      delta(9, { kind: "session", session: session("mine", { state: status("waiting") }) }),
    );
    expect(next.sessions.get("mine")?.state.status).toBe("waiting");
  });

  it("of others is dropped when it is no longer shared", () => {
    const next = apply(busy, delta(9, { kind: "execution_gone", project: "p" }));
    expect([...next.sessions.keys()]).toEqual(["mine"]);
    expect([...next.workspaces.keys()]).toEqual(["w"]);
    expect(apply(busy, delta(9, { kind: "execution_gone", project: "q" })).sessions.size).toBe(2);
  });

  it("is dropped with its project", () => {
    const next = apply(busy, delta(9, { kind: "project_gone", project: "p" }));
    expect([next.sessions.size, next.workspaces.size]).toEqual([0, 0]);
  });

  it("is not reverted by an outdated answer", () => {
    const later = status("waiting", { since: "2026-11-15T10:00:01.000Z" });
    const known = apply(busy, delta(9, { kind: "session", session: session("mine", { state: later }) }));
    const answer: FromHub = { type: "answer", id: 1, answer: { kind: "session", value: session("mine") } };
    expect(apply(known, answer).sessions.get("mine")?.state.status).toBe("waiting");
    const detail: FromHub = {
      type: "answer",
      id: 1,
      answer: {
        kind: "session_detail",
        value: { session: session("old"), workspace: workspace("old"), prompt: "", argv: [] },
      },
    };
    expect(apply(known, detail).sessions.has("old")).toBe(true);
    expect(apply(known, detail).workspaces.has("old")).toBe(true);
    const fresh: FromHub = { type: "answer", id: 1, answer: { kind: "session", value: session("new") } };
    expect(apply(known, fresh).sessions.has("new")).toBe(true);
  });
});
