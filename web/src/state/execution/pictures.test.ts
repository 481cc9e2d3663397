import { expect, it } from "vitest";
import { due } from "./pictures.svelte";

it("takes the oldest pictures first, a few at a time and none too often", () => {
  const taken = new Map([
    ["a", 5_000],
    ["b", 9_000],
    ["c", 1_000],
  ]);
  expect(due(["a", "b", "c", "new"], taken, 10_000)).toEqual(["new", "c", "a"]);
  expect(due(["a", "b", "c", "new"], taken, 10_000, 2)).toEqual(["new", "c"]);
  expect(due([], taken, 10_000)).toEqual([]);
});
