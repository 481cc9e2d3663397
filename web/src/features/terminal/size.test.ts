import { expect, it } from "vitest";
import { isTyped, roomy } from "./size";

it("has at least the minimum number of columns and keeps the aspect ratio", () => {
  expect(roomy({ cols: 35, rows: 21 })).toEqual({ cols: 60, rows: 36 });
  expect(roomy({ cols: 60, rows: 21 })).toEqual({ cols: 60, rows: 21 });
  expect(roomy({ cols: 140, rows: 50 })).toEqual({ cols: 140, rows: 50 });
});

it("tells typing from reports of focus and pointer", () => {
  const typed = (text: string) => isTyped(new TextEncoder().encode(text));
  for (const text of ["a", "\r", "\x1b", "\x1b[A", "\x1b[Z", "\x1b[200~pasted\x1b[201~"])
    expect(typed(text), JSON.stringify(text)).toBe(true);
  for (const text of ["", "\x1b[I", "\x1b[O", "\x1b[<35;10;5M", "\x1b[<0;10;5m", "\x1b[M !!"])
    expect(typed(text), JSON.stringify(text)).toBe(false);
});
