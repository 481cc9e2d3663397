import { describe, expect, it } from "vitest";
import type { TaskStatus } from "../../protocol";
import { task } from "../testing/samples";
import { actOfDrop, applies, placeAt, stepped } from "./acts";
import { byTurn, COLUMNS } from "./board";

const of = (...statuses: TaskStatus[]) => statuses.map((status, at) => task(`t${at}`, { status }));

describe("a drop on a column", () => {
  it("retries, reopens, cancels or changes the priority", () => {
    expect(actOfDrop(of("failed"), "ready")).toBe("retry");
    expect(actOfDrop(of("cancelled", "escalated"), "ready")).toBe("retry");
    expect(actOfDrop(of("done"), "ready")).toBe("reopen");
    expect(actOfDrop(of("ready", "ready"), "ready")).toBe("prioritise");
    expect(actOfDrop(of("blocked"), "blocked")).toBe("prioritise");
    expect(actOfDrop(of("ready", "blocked", "running"), "over")).toBe("cancel");
  });

  it("is refused where it means nothing, also for one of several", () => {
    for (const { name } of COLUMNS.filter((one) => !["ready", "over"].includes(one.name)))
      expect(actOfDrop(of("ready"), name), name).toBeNull();
    expect(actOfDrop(of("blocked"), "ready")).toBeNull();
    expect(actOfDrop(of("failed", "done"), "ready")).toBeNull();
    expect(actOfDrop(of("ready", "done"), "over")).toBeNull();
    expect(actOfDrop([], "ready")).toBeNull();
  });
});

it("acts fit the status", () => {
  expect(applies("cancel", task("t", { status: "validating" }))).toBe(true);
  expect(applies("prioritise", task("t", { status: "failed" }))).toBe(false);
  expect(applies("retry", task("t", { status: "ready" }))).toBe(false);
});

describe("a card that is dropped in its column", () => {
  const a = task("a", { priority: 7 });
  const b = task("b", { priority: 5 });
  const c = task("c", { priority: 5 });
  const d = task("d", { priority: 3 });
  const rows = [a, b, c, d];
  const place = (moved: typeof a, at: number) => placeAt(rows, [moved], at);

  it("gets the nearest priority that puts it there", () => {
    expect(place(d, 0)).toEqual({ priority: 8, before: "a" });
    expect(place(d, 1)).toEqual({ priority: 6, before: "b" });
    expect(place(d, 3)).toEqual({ priority: 3, before: null });
    expect(place(a, 4)).toEqual({ priority: 2, before: null });
    expect(place(b, 2)).toEqual({ priority: 5, before: "c" });
    expect(place(c, 1)).toEqual({ priority: 6, before: "b" });
    expect(place(b, 3)).toEqual({ priority: 4, before: "d" });
  });

  it("passes the card that it was dragged over when no priority fits exactly", () => {
    expect(place(d, 2)).toEqual({ priority: 6, before: "b" });
    expect(place(a, 2)).toEqual({ priority: 4, before: "d" });
  });

  it("stays when there is no higher priority", () => {
    const top = [task("a", { priority: 9 }), task("b", { priority: 9 })];
    expect(placeAt(top, [top[1] ?? a], 0)).toEqual({ priority: 9, before: null });
  });

  it("takes the others that are dragged along", () => {
    expect(placeAt(rows, [c, d], 1)).toEqual({ priority: 6, before: "b" });
    expect(placeAt(rows, [], 1)).toBeNull();
  });

  it("is where the column then has it", () => {
    for (const moved of rows)
      for (let at = 0; at <= rows.length; at++) {
        const place = placeAt(rows, [moved], at);
        const after = rows
          .map((one) => (one === moved ? { ...one, priority: place?.priority ?? -1 } : one))
          .sort(byTurn)
          .map((one) => one.id);
        expect(after[after.indexOf(moved.id) + 1] ?? null).toBe(place?.before);
      }
  });
});

it("steps stay within the priorities", () => {
  expect([stepped(5, 1), stepped(9, 1), stepped(0, -1)]).toEqual([6, 9, 0]);
});
