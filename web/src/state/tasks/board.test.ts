import { describe, expect, it } from "vitest";
import {
  type Board,
  columns,
  fits,
  isNarrowed,
  wordsOf,
  held,
  isHeldUp,
  NO_BOARD,
  noteOf,
  onBoard,
  paged,
  scrolledTo,
  type TaskQuery,
  tell,
  whyReady,
  workedSince,
} from "./board";
import { layered, look, putAll, sizeOfLayers, valuesOf } from "../../lib/layered";
import { session, task, worker } from "../testing/samples";

const ALL: TaskQuery = { text: "", worker: null, activity: null };
const at = (second: number) => `2026-11-15T10:00:${String(second).padStart(2, "0")}.000Z`;
const wanted: Board = { ...NO_BOARD, wanted: true };

describe("a layered map", () => {
  it("has the entries and order of a plain map, at any size", () => {
    let map = layered<number, string>();
    const plain = new Map<number, string>();
    for (let step = 0; step < 3_000; step++) {
      const key = (step * 7919) % 900;
      map = putAll(map, [[key, `v${step}`]]);
      plain.set(key, `v${step}`);
    }
    expect(sizeOfLayers(map)).toBe(plain.size);
    expect([...valuesOf(map)].sort()).toEqual([...plain.values()].sort());
    for (const [key, value] of plain) expect(look(map, key)).toBe(value);
  });

  it("does not change older versions", () => {
    const before = putAll(layered<string, number>(), [["a", 1]]);
    const after = putAll(before, [["a", 2]]);
    expect(look(before, "a")).toBe(1);
    expect(look(after, "a")).toBe(2);
  });
});

describe("a board", () => {
  it("records a move", () => {
    const first = onBoard(wanted, [task("t1")]);
    const next = onBoard(first, [task("t1", { status: "running", updated_at: at(1) })]);
    expect(look(next.tasks, "t1")?.status).toBe("running");
    expect(next.moves.map(({ from, to, number }) => [number, from, to])).toEqual([
      [1, null, "ready"],
      [2, "ready", "running"],
    ]);
  });

  it("ignores outdated changes", () => {
    const now = onBoard(wanted, [task("t1", { status: "done", updated_at: at(9) })]);
    expect(onBoard(now, [task("t1", { status: "running", updated_at: at(8) })])).toBe(now);
    expect(paged(now, [task("t1", { status: "running", updated_at: at(9) })])).toBe(now);
  });

  it("records no move for a fetched page", () => {
    expect(paged(wanted, [task("t1"), task("t2")]).moves).toEqual([]);
  });

  it("that is not open keeps only recent tasks", () => {
    let board = NO_BOARD;
    for (let n = 0; n < 5_000; n++) board = onBoard(board, [task(`t${n}`)]);
    expect(sizeOfLayers(board.tasks)).toBeLessThanOrEqual(500);
    expect(look(board.tasks, "t4999")).toBeDefined();
    let open = wanted;
    for (let n = 0; n < 1_000; n++) open = onBoard(open, [task(`t${n}`)]);
    expect(sizeOfLayers(open.tasks)).toBe(1_000);
  });
});

describe("the start of work on a task", () => {
  const held = task("t", { status: "running", assigned_to: "w", session: "s", updated_at: at(9) });

  it("is the start of its session, otherwise its last change", () => {
    const sessions = new Map([["s", session("s", { created_at: at(3) })]]);
    expect(workedSince({ sessions }, held)).toBe(at(3));
    expect(workedSince({ sessions: new Map() }, held)).toBe(at(9));
  });

  it("is null when no worker has it", () => {
    for (const status of ["ready", "validating", "escalated", "done"] as const)
      expect(workedSince({ sessions: new Map() }, { ...held, status }), status).toBeNull();
    expect(workedSince({ sessions: new Map() }, { ...held, assigned_to: null })).toBeNull();
  });
});

describe("the reason of an unassigned ready task", () => {
  const ready = task("t", { status: "ready", project: "p", reason: null });
  const now = Date.parse(at(30));
  const why = (...workers: ReturnType<typeof worker>[]) =>
    whyReady({ workers: new Map(workers.map((one) => [one.id, one])) }, ready, now) ?? "";

  it("is shown without workers and with external workers only", () => {
    expect(why()).toContain("No workers in this project");
    expect(why(worker("w", { project: "q" }))).toContain("No workers in this project");
    expect(why(worker("w", { project: "p", kind: "external", seen_at: at(1) }))).toContain(
      "Waiting for an external worker",
    );
    const silent = worker("w", {
      project: "p",
      kind: "external",
      seen_at: "2026-11-15T09:00:00.000Z",
      task: null,
    });
    expect(why(silent)).toContain("No free worker");
  });

  it("is left to the hub for managed workers", () => {
    expect(why(worker("w", { project: "p", kind: "managed" }))).toBe("");
    expect(whyReady({ workers: new Map() }, { ...ready, reason: "nobody can" }, now)).toBeNull();
    expect(whyReady({ workers: new Map() }, { ...ready, status: "blocked" }, now)).toBeNull();
  });
});

describe("the column of the selected task", () => {
  const view = { left: 100, width: 400 };

  it("is scrolled into view from either side, but not when visible", () => {
    expect(scrolledTo(view, { left: 600, width: 150 })).toBe(350);
    expect(scrolledTo(view, { left: 20, width: 150 })).toBe(20);
    expect(scrolledTo(view, { left: 200, width: 150 })).toBe(100);
    expect(scrolledTo(view, { left: 350, width: 150 })).toBe(100);
  });

  it("is aligned at its start when it is wider than the board", () => {
    expect(scrolledTo({ left: 0, width: 100 }, { left: 600, width: 150 })).toBe(600);
  });
});

describe("columns", () => {
  const tasks = paged(wanted, [
    task("a", { priority: 1 }),
    task("b", { priority: 9 }),
    task("c", { status: "assigned", assigned_to: "w1" }),
    task("d", { status: "running", assigned_to: "w2" }),
    task("e", { status: "done", updated_at: at(1) }),
    task("f", { status: "done", updated_at: at(2) }),
    task("g", { status: "cancelled" }),
    task("h", { status: "escalated", title: "Fix the Parser", activity: "act" }),
  ]).tasks;
  const ids = (query = ALL) =>
    Object.fromEntries(
      Object.entries(columns(tasks, query)).map(([name, rows]) => [name, rows.map((one) => one.id).join()]),
    );

  it("sort open tasks by queue order and finished ones newest first", () => {
    expect(ids()).toEqual({
      blocked: "",
      ready: "b,a",
      working: "c,d",
      checking: "",
      escalated: "h",
      done: "f,e",
      over: "g",
    });
  });

  it("are filtered by words, worker and activity", () => {
    expect(ids({ ...ALL, text: "parser FIX" }).escalated).toBe("h");
    expect(ids({ ...ALL, text: "parser fix" }).ready).toBe("");
    expect(ids({ ...ALL, worker: "w2" }).working).toBe("d");
    expect(ids({ ...ALL, activity: "act" }).escalated).toBe("h");
    expect(fits(task("x", { reason: "waits for Lexer" }), { ...ALL, text: "lexer" })).toBe(true);
    const tagged = task("x", { status: "running", labels: ["ui", "api"], needs: ["gpu"] });
    expect(fits(tagged, { ...ALL, label: "ui", need: "gpu", status: "running" })).toBe(true);
    expect(fits(tagged, { ...ALL, label: "u" })).toBe(false);
    expect(fits(tagged, { ...ALL, need: "ui" })).toBe(false);
    expect(fits(tagged, { ...ALL, status: "open" })).toBe(true);
    expect(fits(task("x", { status: "cancelled" }), { ...ALL, status: "open" })).toBe(false);
    expect(isNarrowed({ ...ALL, sort: "-priority" })).toBe(false);
    expect(isNarrowed({ ...ALL, label: "ui" })).toBe(true);
    expect(wordsOf([tagged, task("y", { labels: ["api", "docs"] })], "labels")).toEqual([
      "api",
      "docs",
      "ui",
    ]);
    const named = task("tsk_01k2999zz", { title: "y" });
    expect(fits(named, { ...ALL, text: "TSK_01k29" })).toBe(true);
    expect(fits(named, { ...ALL, text: "2999" })).toBe(false);
  });
});

describe("a column under the pointer", () => {
  it("keeps its cards in place, updates them, and counts new ones", () => {
    const board = paged(wanted, [task("a"), task("b"), task("c", { priority: 9 })]);
    const moved = onBoard(board, [task("a", { status: "done", updated_at: at(1) })]);
    const now = columns(moved.tasks, ALL).ready;
    const { rows, waiting } = held(["a", "b"], now, moved.tasks);
    expect(rows.map((one) => [one.id, one.status])).toEqual([
      ["a", "done"],
      ["b", "ready"],
    ]);
    expect(waiting).toBe(1);
    expect(held([], now, moved.tasks).rows.map((one) => one.id)).toEqual(["c", "b"]);
    expect(held(null, now, moved.tasks).rows.map((one) => one.id)).toEqual(["c", "b"]);
  });
});

describe("the announcement of moves", () => {
  const word = (to: string) => to;
  const moves = [1, 2, 3, 4].map((number) => ({
    number,
    task: `t${number}`,
    title: `T${number}`,
    from: null,
    to: number === 4 ? ("escalated" as const) : ("done" as const),
  }));

  it("names few tasks and counts many", () => {
    expect(tell(moves, 4, word)).toBeNull();
    expect(tell(moves, 3, word)).toBe("T4: escalated");
    expect(tell(moves, 0, word)).toBe("4 tasks moved: 3 done, 1 escalated");
  });
});

describe("the note on a task", () => {
  const waits = "waits until ann allows something to run on `vm`";

  it("is the reason for waiting, before the progress", () => {
    for (const status of ["assigned", "running", "reported", "validating"] as const) {
      expect(noteOf({ status, reason: waits, progress: "half" }), status).toBe(waits);
      expect(isHeldUp({ status, reason: waits }), status).toBe(true);
    }
  });

  it("is the progress, before an earlier rejection", () => {
    expect(noteOf({ status: "running", reason: "the tests fail", progress: "half" })).toBe("half");
    expect(noteOf({ status: "running", reason: "the tests fail", progress: null })).toBe("the tests fail");
  });

  it("is the reason of a finished task", () => {
    expect(noteOf({ status: "failed", reason: "no", progress: "half" })).toBe("no");
    expect(isHeldUp({ status: "ready", reason: waits })).toBe(false);
  });
});
