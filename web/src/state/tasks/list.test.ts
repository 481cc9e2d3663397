import { describe, expect, it } from "vitest";
import { layered, putAll } from "../../lib/layered";
import type { TaskId, TaskLine } from "../../protocol";
import { task } from "../testing/samples";
import type { TaskQuery } from "./board";
import { parseSort, sorted, sortText, turned } from "./list";

const all: TaskQuery = { text: "", worker: null, activity: null };
const lines = [
  task("c", { short: "CALC-10", status: "ready", priority: 9, updated_at: "2026-11-15T10:03:00.000Z" }),
  task("a", { short: "CALC-2", status: "done", priority: 5, updated_at: "2026-11-15T10:01:00.000Z" }),
  task("b", {
    short: "CALC-1",
    status: "escalated",
    assigned_to: "zoe",
    updated_at: "2026-11-15T10:02:00.000Z",
  }),
  task("d", {
    short: "CALC-11",
    status: "running",
    assigned_to: "ann",
    updated_at: "2026-11-15T10:00:00.000Z",
  }),
];
const tasks = putAll(
  layered<TaskId, TaskLine>(),
  lines.map((line) => [line.id, line] as const),
);
const order = (text?: string, query = all) => sorted(tasks, query, parseSort(text)).map((one) => one.short);

describe("the list of tasks", () => {
  it("begins with the most urgent", () => {
    expect(order()).toEqual(["CALC-1", "CALC-11", "CALC-10", "CALC-2"]);
  });

  it("sorts by each column, both ways; numbers are numbers", () => {
    expect(order("task")).toEqual(["CALC-1", "CALC-2", "CALC-10", "CALC-11"]);
    expect(order("-task")).toEqual(["CALC-11", "CALC-10", "CALC-2", "CALC-1"]);
    expect(order("-priority")[0]).toBe("CALC-10");
    expect(order("worker").slice(0, 2)).toEqual(["CALC-11", "CALC-1"]);
    expect(order("-updated")).toEqual(["CALC-10", "CALC-1", "CALC-2", "CALC-11"]);
  });

  it("shows what the filter lets through", () => {
    expect(order("task", { ...all, worker: "zoe" })).toEqual(["CALC-1"]);
  });

  it("keeps its order in the URL", () => {
    expect(sortText(parseSort("nonsense"))).toBeUndefined();
    expect(sortText(parseSort("-priority"))).toBe("-priority");
    expect(turned(parseSort(undefined), "priority")).toEqual({ by: "priority", down: true });
    expect(turned({ by: "priority", down: true }, "priority")).toEqual({ by: "priority", down: false });
  });
});
