import { describe, expect, it } from "vitest";
import { keysAt } from "./keys";

const SCHEMA = {
  properties: { name: { description: "Its name" }, steps: { items: { $ref: "#/$defs/step" } } },
  $defs: {
    step: {
      properties: {
        id: {},
        run: { oneOf: [{ type: "array" }, { properties: { argv: {}, workspace: {} } }] },
        parallel: { properties: { branches: { additionalProperties: { items: { $ref: "#/$defs/step" } } } } },
      },
    },
  },
};

const names = (text: string) => keysAt(SCHEMA, text, text.length).map((one) => one.name);

describe("completion", () => {
  it("knows the keys at the top that are not written yet", () => {
    expect(names("")).toEqual(["name", "steps"]);
    expect(names("name: x\n")).toEqual(["steps"]);
    expect(keysAt(SCHEMA, "", 0)[0]?.about).toBe("Its name");
  });

  it("knows the keys of a step", () => {
    expect(names("name: x\nsteps:\n  - ")).toEqual(["id", "run", "parallel"]);
    expect(names("steps:\n  - id: a\n    ")).toEqual(["run", "parallel"]);
    expect(names("steps:\n  - id: a\n    run:\n      ")).toEqual(["argv", "workspace"]);
    expect(names("steps:\n  - id: a\n    run: [x]\n  - ")).toEqual(["id", "run", "parallel"]);
  });

  it("knows the keys of a step in a block", () => {
    const block = "steps:\n  - id: a\n    parallel:\n      branches:\n        left:\n          - ";
    expect(names(block)).toEqual(["id", "run", "parallel"]);
  });
});
