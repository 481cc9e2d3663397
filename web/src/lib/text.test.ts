import { expect, it } from "vitest";
import { plain } from "./text";

it("plain removes code marks and joins lines", () => {
  expect(plain("nobody takes it: no worker can `sql`")).toBe("nobody takes it: no worker can sql");
  expect(plain("`cargo test` fails\n\n `docs/a.md` is missing")).toBe(
    "cargo test fails · docs/a.md is missing",
  );
  expect(plain("a lone ` stays")).toBe("a lone ` stays");
});
