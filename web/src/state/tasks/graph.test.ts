import { describe, expect, it } from "vitest";
import { NO_BOARD, paged } from "./board";
import { draw, MOST_IN_PICTURE } from "./graph";
import { isotonic, layout } from "./layout";
import { task } from "../testing/samples";

const ALL = { text: "", worker: null, activity: null };
const SIZE = { width: 100, height: 40, across: 50, between: 10 };
const boardOf = (...lines: ReturnType<typeof task>[]) => paged({ ...NO_BOARD, wanted: true }, lines).tasks;

function random(seed: number): () => number {
  let state = seed;
  return () => (state = (state * 1_103_515_245 + 12_345) % 2_147_483_648) / 2_147_483_648;
}

describe("the layout", () => {
  it("has all arrows pointing right and no overlapping nodes", () => {
    for (const seed of [1, 2, 3]) {
      const next = random(seed);
      const ids = Array.from({ length: 200 }, (_, at) => `t${at}`);
      const edges = ids.flatMap((to, at) =>
        at === 0 ? [] : [0, 1].map(() => ({ from: ids[Math.floor(next() * at)] ?? "", to })),
      );
      const picture = layout(ids, edges, SIZE);
      for (const { from, to, points } of picture.edges) {
        expect(picture.nodes.get(from)?.x).toBeLessThan(picture.nodes.get(to)?.x ?? 0);
        expect(points.at(0)?.x).toBe(picture.nodes.get(from)?.x);
        expect(points.at(-1)?.y).toBe(picture.nodes.get(to)?.y);
      }
      const byRank = new Map<number, number[]>();
      for (const { rank, y } of picture.nodes.values()) byRank.set(rank, [...(byRank.get(rank) ?? []), y]);
      for (const ys of byRank.values()) {
        ys.sort((a, b) => a - b);
        for (let at = 1; at < ys.length; at++)
          expect((ys[at] ?? 0) - (ys[at - 1] ?? 0)).toBeGreaterThanOrEqual(SIZE.height + SIZE.between - 1e-6);
      }
      for (const { x, y } of picture.nodes.values()) {
        expect(x).toBeGreaterThanOrEqual(SIZE.width / 2);
        expect(x).toBeLessThanOrEqual(picture.width);
        expect(y).toBeGreaterThanOrEqual(SIZE.height / 2 - 1e-6);
        expect(y).toBeLessThanOrEqual(picture.height);
      }
    }
  });

  it("removes a crossing", () => {
    const picture = layout(
      ["a", "b", "b2", "a2"],
      [
        { from: "a", to: "a2" },
        { from: "b", to: "b2" },
      ],
      SIZE,
    );
    const y = (id: string) => picture.nodes.get(id)?.y ?? 0;
    expect(Math.sign(y("a") - y("b"))).toBe(Math.sign(y("a2") - y("b2")));
    expect(y("a")).toBeCloseTo(y("a2"));
  });

  it("survives a cycle", () => {
    const picture = layout(
      ["a", "b"],
      [
        { from: "a", to: "b" },
        { from: "b", to: "a" },
      ],
      SIZE,
    );
    expect(picture.nodes.size).toBe(2);
  });

  it("isotonic keeps the order and moves values least", () => {
    expect(isotonic([3, 1, 2, 5])).toEqual([2, 2, 2, 5]);
    expect(isotonic([])).toEqual([]);
  });
});

describe("the content of the graph", () => {
  const tasks = boardOf(
    task("done", { status: "done" }),
    task("old", { status: "done" }),
    task("a", { deps: ["done"] }),
    task("b", { deps: ["a"], status: "blocked" }),
    task("alone"),
  );
  const ids = (lines: { id: string }[]) => lines.map((one) => one.id).sort();

  it("is open tasks with their dependencies; single tasks are separate", () => {
    const drawn = draw(tasks, ALL, "open", null);
    expect(ids(drawn.linked)).toEqual(["a", "b", "done"]);
    expect(ids(drawn.alone)).toEqual(["alone"]);
    expect(drawn.edges).toHaveLength(2);
    expect(ids(draw(tasks, ALL, "all", null).alone)).toEqual(["alone", "old"]);
  });

  it("keeps tasks that were drawn before", () => {
    const over = boardOf(task("a", { status: "done" }), task("b"));
    expect(ids(draw(over, ALL, "open", null).alone)).toEqual(["b"]);
    expect(ids(draw(over, ALL, "open", null, new Set(["a", "b"])).alone)).toEqual(["a", "b"]);
  });

  it("is the dependencies and dependants of a task", () => {
    expect(ids(draw(tasks, ALL, "around", "a").linked)).toEqual(["a", "b", "done"]);
  });

  it("is empty when there are too many tasks", () => {
    const many = boardOf(...Array.from({ length: MOST_IN_PICTURE + 1 }, (_, at) => task(`t${at}`)));
    expect(draw(many, ALL, "open", null)).toMatchObject({ tooMany: MOST_IN_PICTURE + 1, linked: [] });
    expect(draw(many, ALL, "around", "t1").tooMany).toBeNull();
  });
});
