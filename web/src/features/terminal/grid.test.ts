import { expect, it } from "vitest";
import { gridOf, pageOf } from "./grid";

it("lays terminals out in nearly square grids", () => {
  const layouts = [1, 2, 3, 4, 5, 6, 7, 9].map((count) => gridOf(count));
  const text = layouts.map(({ cols, rows }) => `${cols}×${rows}`);
  expect(text).toEqual(["1×1", "2×1", "2×2", "2×2", "3×2", "3×2", "3×3", "3×3"]);
  expect(gridOf(0)).toEqual({ cols: 1, rows: 1 });
});

it("shows the group of tabs with the current one", () => {
  const open = ["a", "b", "c", "d", "e", "f", "g"];
  expect(pageOf(open, "b", 4)).toEqual(["a", "b", "c", "d"]);
  expect(pageOf(open, "f", 4)).toEqual(["e", "f", "g"]);
  expect(pageOf(open, "g", 6)).toEqual(["g"]);
  expect(pageOf(open, "g", 9)).toEqual(open);
});
