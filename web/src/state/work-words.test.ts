import { expect, it } from "vitest";
import { lasting, plain } from "./work-words";

it("what lasts is said in minutes, then hours, then days", () => {
  const minute = 60_000;
  expect([-5, 59_999, minute, 4.9 * minute, 125 * minute, 27 * 60 * minute].map(lasting)).toEqual([
    "for a moment",
    "for a moment",
    "for 1 min",
    "for 4 min",
    "for 2 h 5 min",
    "for 1 d 3 h",
  ]);
});

it("a reason in few words has no marks, and its lines stand apart", () => {
  expect(plain("nobody takes it: no worker can `sql`")).toBe("nobody takes it: no worker can sql");
  expect(plain("`cargo test` fails\n\n `docs/a.md` is missing")).toBe(
    "cargo test fails · docs/a.md is missing",
  );
  expect(plain("a lone ` stays")).toBe("a lone ` stays");
});
