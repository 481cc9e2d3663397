import { expect, it } from "vitest";
import { projectArg } from "./cli";

it("names a project so that a shell passes it on as it is", () => {
  const arg = (name: string) => projectArg({ id: "prj_1", name });
  expect(arg("Plans")).toBe("Plans");
  expect(arg("Payments rewrite")).toBe('"Payments rewrite"');
  expect(arg("Größe 2")).toBe('"Größe 2"');
  for (const name of ['a"b', "$HOME", "a`b`", "a\\b", "it's", "--all!", ""]) expect(arg(name)).toBe("prj_1");
});
