import { expect, it } from "vitest";
import { Selection } from "./selection.svelte";

const COLUMN = ["a", "b", "c", "d", "e"];

it("toggles, and extends from the last one in both directions", () => {
  const selection = new Selection();
  selection.toggle("c");
  selection.extend(COLUMN, "e");
  expect([...selection.ids]).toEqual(["c", "d", "e"]);
  selection.extend(COLUMN, "b");
  expect([...selection.ids].sort()).toEqual(["b", "c", "d", "e"]);
  selection.toggle("d");
  expect([...selection.ids].sort()).toEqual(["b", "c", "e"]);
  selection.drop(["b", "x"]);
  expect([...selection.ids]).toEqual(["c", "e"]);
  selection.clear();
  expect(selection.ids.size).toBe(0);
});

it("starts a new range in another column", () => {
  const selection = new Selection();
  selection.extend(COLUMN, "b");
  selection.extend(["x", "y", "z"], "y");
  expect([...selection.ids]).toEqual(["b", "y"]);
  selection.extend(["x", "y", "z"], "z");
  expect([...selection.ids]).toEqual(["b", "y", "z"]);
});
