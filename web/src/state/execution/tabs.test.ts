import { expect, it } from "vitest";
import { tabs } from "./tabs.svelte";

it("the grid and the diff exclude each other", () => {
  tabs.diff = true;
  tabs.grid = true;
  expect([tabs.grid, tabs.diff]).toEqual([true, false]);
  tabs.diff = true;
  expect([tabs.grid, tabs.diff]).toEqual([false, true]);
  tabs.diff = false;
  expect([tabs.grid, tabs.diff]).toEqual([false, false]);
});
