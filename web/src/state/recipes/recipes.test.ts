import { describe, expect, it } from "vitest";
import type { Execution, ExecutionAttempt, ExecutionStep, Recipe, Schedule } from "../../protocol";
import { EMPTY, type Floor } from "../hub/floor";
import { project, user } from "../testing/samples";
import { askingExecutions, executionsOf, recipesOf, schedulesOf } from "./executions";
import { changesOf } from "./changes";
import { fieldOf, fieldsOf, typedOf, valuesOf } from "./form";
import { daysOf, secondsOf } from "./strip";
import { barsOf } from "./timeline";
import { firstOf, flat, treeOf } from "./tree";
import { lookOf, stepLook } from "./words";

const step = (path: string, more: Partial<ExecutionStep> = {}): ExecutionStep => ({
  path,
  kind: "run",
  status: "succeeded",
  attempt: 1,
  reason: null,
  output: null,
  question: null,
  retry_at: null,
  ...more,
});

const QUESTION = { question: "Land?", who: [], count: 1, approved_by: [], form: null, deadline: null };

const run = (id: string) => ({ id, action: { kind: "run", argv: ["make", id] } });

const MODEL = {
  steps: [
    run("build"),
    {
      id: "fan",
      action: {
        kind: "parallel",
        branches: [
          { name: "left", steps: [run("a")] },
          { name: "right", steps: [run("b")] },
        ],
      },
    },
    { id: "each", action: { kind: "for_each", items: "inputs.list", name: "item", steps: [run("one")] } },
    { id: "choose", action: { kind: "branch", cases: [{ when: "x", steps: [run("c")] }, { steps: [] }] } },
  ],
};

describe("the tree of steps", () => {
  it("has a path and a state for every step, and a lane for every item that has begun", () => {
    const tree = treeOf(MODEL, [step("build"), step("each[k/1]/one", { status: "failed" })]);
    expect(flat(tree).map((node) => [node.path, node.step?.status ?? null])).toEqual([
      ["build", "succeeded"],
      ["fan", null],
      ["fan[left]/a", null],
      ["fan[right]/b", null],
      ["each", null],
      ["each[k/1]/one", "failed"],
      ["choose", null],
      ["choose[0]/c", null],
    ]);
    expect(tree[0]?.about).toBe("make build");
    expect(tree[3]?.lanes?.map((lane) => lane.title)).toEqual(["if x", "else"]);
  });

  it("shows first what asks, then what failed", () => {
    const failed = step("build", { status: "failed" });
    expect(firstOf(treeOf(MODEL, [failed]))?.path).toBe("build");
    const asks = step("fan[left]/a", { status: "waiting", question: QUESTION });
    expect(firstOf(treeOf(MODEL, [failed, asks]))?.path).toBe("fan[left]/a");
    expect(firstOf(treeOf(MODEL))?.path).toBe("build");
    expect(firstOf([])).toBeNull();
  });

  it("survives a model that it does not know", () => {
    expect(treeOf({})).toEqual([]);
    expect(treeOf({ steps: [null, { id: 3 }] }).map((node) => node.path)).toEqual(["", ""]);
  });
});

describe("words", () => {
  it("say when a person is needed", () => {
    expect(lookOf({ status: "waiting", needs_person: true }).tone).toBe("waiting");
    expect(lookOf({ status: "paused", needs_person: true }).word).toBe("Paused");
    expect(stepLook(step("a", { status: "waiting", question: QUESTION })).tone).toBe("waiting");
    expect(stepLook(step("a", { status: "waiting" })).tone).toBe("idle");
    expect(stepLook(null).word).toBe("Not started");
  });
});

describe("the timeline", () => {
  it("divides an attempt into waiting and running", () => {
    const at = (second: number) => new Date(second * 1000).toISOString();
    const attempt = { path: "a", attempt: 1, created_at: at(0), began_at: at(5), ended_at: at(10) };
    const open = { path: "b", attempt: 1, created_at: at(10), began_at: null, ended_at: null };
    const bars = barsOf([attempt, open] as ExecutionAttempt[], { created_at: at(0), ended_at: null }, 20_000);
    expect(bars.map((bar) => [bar.from, bar.began, bar.to])).toEqual([
      [0, 0.25, 0.5],
      [0.5, 1, 1],
    ]);
    expect(bars.map((bar) => [bar.waitedMs, bar.ranMs])).toEqual([
      [5000, 5000],
      [10_000, 0],
    ]);
  });
});

describe("a difference", () => {
  it("has the lines that changed, with some around them", () => {
    const lines = Array.from({ length: 20 }, (_, at) => String(at));
    const changed = lines.with(10, "x").join("\n");
    expect(changesOf(lines.join("\n"), changed).map(({ line }) => line?.text ?? "…")).toEqual([
      "7",
      "8",
      "9",
      "10",
      "x",
      "11",
      "12",
      "13",
      "…",
    ]);
    expect(changesOf("a", "a")).toEqual([]);
  });
});

describe("a form of a JSON Schema", () => {
  it("reads what was typed by its type", () => {
    const fields =
      fieldsOf({
        required: ["n"],
        properties: {
          n: { type: "integer" },
          s: { type: "string" },
          b: { type: "boolean" },
          e: { enum: ["x", 2] },
          l: { type: "array" },
          o: { type: "object" },
        },
      }) ?? [];
    expect(valuesOf(fields, { n: "3", s: "t", b: "true", e: "1", l: "a, b", o: '{"a":1}' })).toEqual({
      values: { n: 3, s: "t", b: true, e: 2, l: ["a", "b"], o: { a: 1 } },
      errors: {},
    });
    expect(Object.keys(valuesOf(fields, { n: "", o: "{" }).errors)).toEqual(["n", "o"]);
    expect(valuesOf(fields, { n: "1.5" }).errors.n).toBe("Write a whole number.");
  });

  it("starts with the default", () => {
    expect(typedOf(fieldOf("l", { type: "array" }, false), ["a"])).toBe('["a"]');
    expect(typedOf(fieldOf("e", { enum: ["x", "y"] }, false), "y")).toBe("1");
    expect(typedOf(fieldOf("b", { type: "boolean" }, false), undefined)).toBe("false");
  });

  it("asks for JSON where there are no fields", () => {
    expect(fieldsOf({ type: "array" })).toBeNull();
  });
});

const execution = (id: string, more: Partial<Execution> = {}) =>
  ({ id, project: "p", status: "waiting", needs_person: false, created_at: id, ...more }) as Execution;

describe("executions", () => {
  const floor = (executions: Execution[], me = "ann"): Floor => ({
    ...EMPTY,
    me: { user: user(me) } as Floor["me"],
    projects: new Map([["p", project("p", { visibility: "read-only" })]]),
    executions: new Map(executions.map((one) => [one.id, one])),
  });

  it("are sorted by who needs a person", () => {
    const all = [
      execution("1"),
      execution("2", { needs_person: true }),
      execution("3", { status: "failed" }),
    ];
    expect(executionsOf(floor(all), "p").map((one) => one.id)).toEqual(["2", "1", "3"]);
    expect(executionsOf(floor(all), "other")).toEqual([]);
  });

  it("ask those who may answer, while they are open", () => {
    const all = [
      execution("1", { needs_person: true }),
      execution("2", { needs_person: true, status: "cancelled" }),
      execution("3", { needs_person: true, status: "paused" }),
    ];
    expect(askingExecutions(floor(all)).map((one) => one.execution.id)).toEqual(["1"]);
    expect(askingExecutions(floor(all, "bo"))).toEqual([]);
  });
});

describe("recipes", () => {
  it("that changed replace those that were fetched", () => {
    const recipe = (id: string, number: number) => ({ id, project: "p", name: id, number }) as Recipe;
    const floor = { ...EMPTY, recipes: new Map([["a", recipe("a", 2)]]) };
    const found = recipesOf(floor, "p", [recipe("a", 1), recipe("b", 1)]);
    expect(found.map((one) => [one.id, one.number])).toEqual([
      ["a", 2],
      ["b", 1],
    ]);
  });
});

describe("schedules", () => {
  const schedule = (id: string, next: string[], more: Partial<Schedule> = {}) =>
    ({ id, name: id, project: "p", next, paused: false, ...more }) as Schedule;

  it("are on the days on which they are due", () => {
    const now = new Date(2026, 10, 18, 9, 0).getTime();
    const at = (day: number, hour: number) => new Date(2026, 10, day, hour).toISOString();
    const days = daysOf(
      [
        schedule("a", [at(18, 8), at(18, 12), at(20, 7), at(30, 7)]),
        schedule("b", [at(18, 10)]),
        schedule("c", [at(18, 10)], { paused: true }),
      ],
      now,
    );
    expect(days.map((day) => day.firings.map((one) => one.schedule.id).join())).toEqual([
      "b,a",
      "",
      "a",
      "",
      "",
      "",
      "",
    ]);
  });

  it("are sorted by their next time; paused ones are last", () => {
    const all = [schedule("a", ["2"]), schedule("b", ["1"]), schedule("c", ["0"], { paused: true })];
    const floor = { ...EMPTY, schedules: new Map(all.map((one) => [one.id, one])) };
    expect(schedulesOf(floor, "p").map((one) => one.id)).toEqual(["b", "a", "c"]);
  });

  it("have spans as people write them", () => {
    expect([secondsOf("90"), secondsOf("15m"), secondsOf("2 h"), secondsOf("x")]).toEqual([
      90,
      900,
      7200,
      null,
    ]);
  });
});
