import { expect, it } from "vitest";
import { roomy } from "./size";

it("gives a program columns to work in, and keeps the shape of its place", () => {
  expect(roomy({ cols: 35, rows: 21 })).toEqual({ cols: 60, rows: 36 });
  expect(roomy({ cols: 60, rows: 21 })).toEqual({ cols: 60, rows: 21 });
  expect(roomy({ cols: 140, rows: 50 })).toEqual({ cols: 140, rows: 50 });
});
