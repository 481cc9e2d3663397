import { describe, expect, it } from "vitest";
import type { EscalationKind, EscalationOption } from "../protocol";
import { actsOffered, answerTold, choicesOf, isFree, otherName } from "./escalations";
import { escalation } from "./testing/samples";

const FOUR: EscalationOption[] = [
  { label: "Accept it", act: "accept" },
  { label: "Do it again", act: "retry" },
  { label: "Let it fail", act: "fail" },
  { label: "Cancel it", act: "cancel" },
];
const primary = (kind: EscalationKind, options = FOUR) =>
  choicesOf({ kind, options })
    .filter((one) => one.primary)
    .map((one) => one.word);

describe("the ways to answer", () => {
  it("do not suggest to accept what was refused", () => {
    expect(primary("stuck")).toEqual(["Do it again"]);
    expect(primary("refused")).toEqual(["Do it again"]);
    expect(primary("gave_up", [])).toEqual(["Try again"]);
  });

  it("suggest to accept what only a person can judge, and nothing where nobody knows", () => {
    expect(primary("judgement")).toEqual(["Accept it"]);
    for (const kind of ["same_lines", "contradiction", "uncheckable"] as const)
      expect(primary(kind), kind).toEqual([]);
  });

  it("to a question are words first", () => {
    const options: EscalationOption[] = [
      { label: "Yes", act: "tell" },
      { label: "No", act: "tell" },
    ];
    expect(primary("question", [])).toEqual(["Answer"]);
    expect(isFree({ kind: "question", options })).toBe(true);
    expect(primary("question", options), "sending one's own words is").toEqual([]);
  });

  it("need not be offered by the task, too", () => {
    expect(actsOffered([])).toEqual(new Set());
    expect(actsOffered([{ kind: "stuck", options: FOUR }])).toEqual(
      new Set(["accept", "retry", "fail", "cancel"]),
    );
    const only = actsOffered([{ kind: "question", options: [{ label: "Yes", act: "tell" }] }]);
    expect(only.has("cancel")).toBe(false);
  });
});

describe("an answer", () => {
  const by = { id: "ann", name: "ann" };

  it("stands apart from who gave it", () => {
    expect(`ann answered${answerTold(escalation("e", { answered_by: by, act: "fail" }))}`).toBe(
      "ann answered (let it fail)",
    );
    expect(answerTold(escalation("e", { answered_by: by, act: "tell", answer: "half up" }))).toBe(
      " (answer): half up",
    );
  });

  it("that nobody gave did nothing", () => {
    expect(answerTold(escalation("e", { act: "cancel", answer: "the task is gone" }))).toBe(
      ": the task is gone",
    );
  });
});

it("another task is called by its title, else by its id", () => {
  expect(otherName("tsk_1", "Round half up")).toBe("“Round half up”");
  expect(otherName("tsk_1", undefined)).toBe("tsk_1");
});
