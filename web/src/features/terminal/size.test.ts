import { expect, it } from "vitest";
import { roomy } from "./size";

it("has at least the minimum number of columns and keeps the aspect ratio", () => {
  expect(roomy({ cols: 35, rows: 21 })).toEqual({ cols: 60, rows: 36 });
  expect(roomy({ cols: 60, rows: 21 })).toEqual({ cols: 60, rows: 21 });
  expect(roomy({ cols: 140, rows: 50 })).toEqual({ cols: 140, rows: 50 });
});
