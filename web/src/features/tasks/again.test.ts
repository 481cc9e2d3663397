import { expect, it } from "vitest";
import { task } from "../../state/testing/samples";
import { editOf, referring, sorted } from "./again";

it("recognises open tasks of a plan by their titles", () => {
  const lines = [
    task("2", { title: "Write it" }),
    task("1", { title: "write it" }),
    task("3", { title: "Done it", status: "done" }),
  ];
  const plan = [
    { id: "w", description: "Write it\nwell" },
    { description: "Done it", deps: ["w"] },
  ];
  const { add, update } = sorted(plan, lines);
  expect(update.map(({ there }) => there.id)).toEqual(["1"]);
  expect(add.map((one) => one.description)).toEqual(["Done it"]);
  const ids = new Map([["w", "1"]]);
  expect(referring(add, ids)[0]?.deps).toEqual(["1"]);
  expect(editOf({ description: "Write it", priority: 7, deps: ["w", "x"] }, ids)).toEqual({
    description: "Write it",
    priority: 7,
    deps: ["1", "x"],
  });
});
