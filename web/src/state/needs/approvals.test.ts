import { describe, expect, it } from "vitest";
import type { Answered } from "../../protocol";
import {
  askedOf,
  allowances,
  answerOf,
  approvalDetail,
  isContained,
  newApprovals,
  openApprovals,
  reachOf,
  visibly,
  waitsForApproval,
  writerOf,
  writersOf,
} from "./approvals";
import { apply } from "../hub/apply";
import { EMPTY, type Floor } from "../hub/floor";
import { liveOf, waitingFor } from "../execution/sessions";
import { approval, candidate, mergeQueue, project, runner, session, status, user } from "../testing/samples";
import { needs, placeOfNeed } from "./needs";

const me = { user: user("ann"), observes: null, hub: "h", github: false, version: "0" };
const at = (minute: number) => `2026-11-15T10:0${minute}:00.000Z`;
const asked = (id: string, minute: number, more: Parameters<typeof approval>[1] = {}) =>
  approval(id, { created_at: at(minute), ...more });
const known = (...all: ReturnType<typeof approval>[]) => new Map(all.map((one) => [one.id, one]));
const floor: Floor = {
  ...EMPTY,
  me,
  loaded: true,
  users: new Map([["bo", user("bo", { name: "Bo Renamed" })]]),
  projects: new Map([["p", project("p")]]),
  runners: new Map([["r", runner("r")]]),
};

describe("approvals", () => {
  it("stay in the state when answered", () => {
    const open = apply(floor, {
      type: "delta",
      seq: 1,
      at: at(9),
      change: { kind: "approval", approval: asked("a", 1) },
    });
    expect(openApprovals(open).map((one) => one.id)).toEqual(["a"]);
    const done = asked("a", 1, { answer: "once", answered_at: at(2) });
    const answered = apply(open, {
      type: "delta",
      seq: 2,
      at: at(9),
      change: { kind: "approval", approval: done },
    });
    expect(openApprovals(answered)).toEqual([]);
    expect(answered.approvals.get("a")?.answer).toBe("once");
  });

  it("are not reopened by an outdated answer", () => {
    const done = asked("a", 1, { answer: "denied", answered_at: at(2) });
    const after = apply(
      { ...floor, approvals: known(done) },
      { type: "answer", id: 1, answer: { kind: "approval", value: asked("a", 1) } },
    );
    expect(after.approvals.get("a")?.answer).toBe("denied");
  });

  it("are replaced by a full sync, without answered ones", () => {
    const before = { ...floor, approvals: known(asked("old", 1)) };
    const synced = apply(before, {
      type: "sync",
      seq: 5,
      part: 0,
      last: true,
      changes: [
        { kind: "project", project: project("p") },
        { kind: "approval", approval: asked("new", 2) },
      ],
    });
    expect([...synced.approvals.keys()]).toEqual(["new"]);
  });

  it("are dropped with their project and runner", () => {
    const all = known(asked("a", 1), asked("b", 2, { project: "q", runner: "s" }));
    const without = (change: Parameters<typeof apply>[1] & { type: "delta" }) => [
      ...apply({ ...floor, approvals: all }, change).approvals.keys(),
    ];
    expect(
      without({ type: "delta", seq: 1, at: at(9), change: { kind: "project_gone", project: "p" } }),
    ).toEqual(["b"]);
    expect(
      without({ type: "delta", seq: 1, at: at(9), change: { kind: "runner_gone", runner: "s" } }),
    ).toEqual(["a"]);
  });
});

describe("needs", () => {
  const waiting = session("s", { state: status("waiting", { since: at(3) }) });
  const both = (approvals: Floor["approvals"]) => ({
    ...floor,
    approvals,
    sessions: new Map([["s", waiting]]),
  });

  it("start with approvals, oldest first", () => {
    const all = both(known(asked("b", 2), asked("a", 1), asked("c", 1, { answer: "once" })));
    expect(needs(all).map((one) => (one.kind === "approval" ? one.approval.id : one.kind))).toEqual([
      "a",
      "b",
      "waiting",
    ]);
  });

  it("include a merge queue that waits for a person, with the place to confirm", () => {
    const held = candidate("c", { state: "needs_person" });
    const queue = mergeQueue({ no_checks: true, candidates: [held] });
    const [need] = needs({ ...floor, merges: new Map([["p", [queue]]]) });
    expect(need?.kind).toBe("merge");
    expect(need && placeOfNeed(need)).toBe("/p/p/merge");
    const moves = mergeQueue({ candidates: [candidate("c", { state: "testing" })] });
    expect(needs({ ...floor, merges: new Map([["p", [moves]]]) })).toEqual([]);
  });

  it("do not repeat a session that waits for an approval", () => {
    const open = both(known(asked("a", 3, { session: "s" })));
    expect(waitingFor(open)).toEqual([]);
    expect(needs(open).map((one) => one.kind)).toEqual(["approval"]);
    const answered = both(known(asked("a", 3, { session: "s", answer: "text", answered_at: at(4) })));
    expect(waitsForApproval(answered, waiting)).toBe(true);
    expect(needs(answered)).toEqual([]);
  });

  it("include a session that waits for something else later", () => {
    const later = both(known(asked("a", 1, { session: "s", answer: "text", answered_at: at(2) })));
    expect(waitingFor(later).map((one) => one.id)).toEqual(["s"]);
  });

  it("have a text for the person who reads it", () => {
    const detail = "the runner's owner must allow session `bo asks: x`: `shopfloor approval list`";
    const of = (owner: string, detail: string) =>
      session("s", { owner: { id: owner, name: owner }, state: status("waiting", { detail }) });
    expect(approvalDetail(floor, of("ann", detail))).toBe("Starts when you allow it");
    expect(approvalDetail(floor, of("bo", detail))).toBe("Starts when Bo Renamed allows it");
    expect(approvalDetail(floor, of("ann", "Allow command: make?"))).toBeNull();
    expect(liveOf(floor, of("ann", detail)).detail).toBe("Starts when you allow it");
  });

  it("can be filtered by project or task, and notify once", () => {
    const all = { ...floor, approvals: known(asked("a", 1), asked("b", 2, { project: "q", task: "u" })) };
    expect(openApprovals(all, { project: "q" }).map((one) => one.id)).toEqual(["b"]);
    expect(openApprovals(all, { task: "t" }).map((one) => one.id)).toEqual(["a"]);
    expect(newApprovals(new Set(["a"]), openApprovals(all)).map((one) => one.id)).toEqual(["b"]);
  });
});

describe("the texts of an approval", () => {
  const bo = { user: { id: "bo", name: "bo" }, agent: null, by_agent: false };
  const agent = { ...bo, agent: "ses_1", by_agent: true };

  it("distinguish a person from their agent, by current name", () => {
    expect([writerOf(floor, bo), writerOf(floor, agent)]).toEqual(["Bo Renamed", "an agent of Bo Renamed"]);
    expect(writerOf(floor, { ...bo, by_agent: true })).toBe("an agent of Bo Renamed");
    expect([writersOf(floor, bo), writersOf(floor, agent)]).toEqual(["Bo Renamed", "agents of Bo Renamed"]);
  });

  it("offer no permanent permission for code", () => {
    expect(allowances({ kind: "command" }).map((one) => one.answer)).toEqual(["text", "once"]);
    expect(allowances({ kind: "code" }).map((one) => one.answer)).toEqual(["once"]);
  });

  it("cover every answer", () => {
    const all: Answered[] = ["once", "text", "author", "denied", "policy", "granted", "withdrawn"];
    const words = all.map((answer) => answerOf(floor, { answer, author: agent }));
    expect(new Set(words).size).toBe(all.length);
    expect(words[2]).toBe("Allowed: everything by agents of Bo Renamed in this project");
  });

  it("do not claim a sandbox when the runner reads a folder outside it", () => {
    expect(isContained({ kind: "command", sandbox: true })).toBe(true);
    expect(isContained({ kind: "repository", sandbox: true })).toBe(false);
    expect(isContained({ kind: "command", sandbox: false })).toBe(false);
  });

  it("show invisible characters", () => {
    expect(visibly("rm\u200b -rf")).toEqual([
      { text: "rm", hidden: false },
      { text: "U+200B", hidden: true },
      { text: " -rf", hidden: false },
    ]);
    expect(visibly("make test ✔\ufe0f")).toHaveLength(1);
    expect(visibly("")).toEqual([]);
  });

  it("say what a sandbox leaves open", () => {
    expect(reachOf({})).toBe("");
    expect(reachOf({ reach: { home: true, network: true } })).toContain("reads your home folder");
    expect(reachOf({ reach: { home: false, network: false } })).toContain("has no network");
  });
});

describe("what an approval asks for", () => {
  const lines = ["agent: command, model: default, interactive", "repository: none, base: default"];
  it.each([
    ["Bo asks to run: sh .demo/agent.sh", "sh .demo/agent.sh"],
    ["Bo asks: Fix the parser", "Fix the parser"],
  ])("is the command or the prompt of a session: %s", (line, asked) => {
    expect(askedOf({ kind: "session", text: [...lines, line].join("\n") })).toBe(asked);
  });

  it("is the whole text otherwise", () => {
    expect(askedOf({ kind: "command", text: "echo Bo asks: no" })).toBe("echo Bo asks: no");
    expect(askedOf({ kind: "session", text: lines.join("\n") })).toBe(lines.join("\n"));
  });
});
