import { describe, expect, it } from "vitest";
import { pieces, unfinished } from "./mentions";

const id = `act_${"0".repeat(32)}`;

describe("pieces", () => {
  it("finds mentions by the longest name, ignoring case, and references", () => {
    expect(pieces(`hi @Ann Lee, see #${id}.`, ["ann", "ann lee"])).toEqual([
      { kind: "text", text: "hi " },
      { kind: "mention", name: "Ann Lee" },
      { kind: "text", text: ", see " },
      { kind: "reference", id },
      { kind: "text", text: "." },
    ]);
  });

  it("finds short names of tasks", () => {
    expect(pieces("see #CALC-12, #calc-12", [])).toEqual([
      { kind: "text", text: "see " },
      { kind: "reference", id: "CALC-12" },
      { kind: "text", text: ", #calc-12" },
    ]);
  });

  it("ignores text that only looks like a mention or reference", () => {
    for (const text of ["@anna", "@", "#act_12", `#${id}f`, "a # b @ c"]) {
      expect(pieces(text, ["ann"])).toEqual([{ kind: "text", text }]);
    }
  });
});

describe("unfinished", () => {
  it("is the mention or reference before the caret", () => {
    expect(unfinished("hi @an", 6)).toEqual({ sign: "@", query: "an", start: 3 });
    expect(unfinished("#", 1)).toEqual({ sign: "#", query: "", start: 0 });
    expect(unfinished("mail@an", 7)).toBeNull();
    expect(unfinished("@ann done", 9)).toBeNull();
  });
});
