import { expect, it } from "vitest";
import { tabs } from "./tabs.svelte";

it("shows four terminals or the diff of one: beside each other neither can be read", () => {
  tabs.diff = true;
  tabs.grid = true;
  expect([tabs.grid, tabs.diff]).toEqual([true, false]);
  tabs.diff = true;
  expect([tabs.grid, tabs.diff]).toEqual([false, true]);
  tabs.diff = false;
  expect([tabs.grid, tabs.diff]).toEqual([false, false]);
});
