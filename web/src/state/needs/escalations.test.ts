import { describe, expect, it } from "vitest";
import type { EscalationKind, EscalationOption } from "../../protocol";
import { actsOffered, answerTold, choicesOf, inPlace, isFree, nextOf, otherName } from "./escalations";
import { escalation } from "../testing/samples";

const FOUR: EscalationOption[] = [
  { label: "Accept", act: "accept" },
  { label: "Retry", act: "retry" },
  { label: "Mark failed", act: "fail" },
  { label: "Cancel task", act: "cancel" },
];
const primary = (kind: EscalationKind, options = FOUR) =>
  choicesOf({ kind, options })
    .filter((one) => one.primary)
    .map((one) => one.word);

describe("the choices", () => {
  it("do not suggest accepting rejected work", () => {
    expect(primary("stuck")).toEqual(["Retry"]);
    expect(primary("refused")).toEqual(["Retry"]);
    expect(primary("gave_up", [])).toEqual(["Retry"]);
  });

  it("suggest accepting for a review, and nothing for a conflict", () => {
    expect(primary("judgement")).toEqual(["Accept"]);
    for (const kind of ["same_lines", "contradiction", "uncheckable"] as const)
      expect(primary(kind), kind).toEqual([]);
  });

  it("for a question put the free text first", () => {
    const options: EscalationOption[] = [
      { label: "Yes", act: "tell" },
      { label: "No", act: "tell" },
    ];
    expect(primary("question", [])).toEqual(["Answer"]);
    expect(isFree({ kind: "question", options })).toBe(true);
    expect(primary("question", options), "sending one's own words is").toEqual([]);
  });

  it("replace the actions of the task", () => {
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

  it("follows the name of the person", () => {
    expect(`ann answered${answerTold(escalation("e", { answered_by: by, act: "fail" }))}`).toBe(
      "ann answered (mark failed)",
    );
    expect(answerTold(escalation("e", { answered_by: by, act: "tell", answer: "half up" }))).toBe(
      " (answer): half up",
    );
  });

  it("has no action when no person answered", () => {
    expect(answerTold(escalation("e", { act: "cancel", answer: "the task is gone" }))).toBe(
      ": the task is gone",
    );
  });
});

it("another task has its title, otherwise its id", () => {
  expect(otherName("tsk_1", "Round half up")).toBe("“Round half up”");
  expect(otherName("tsk_1", undefined)).toBe("tsk_1");
});

describe("requests on an open page", () => {
  const asked = (id: string, at: number, answered = false) =>
    escalation(id, {
      created_at: `2026-11-15T10:0${at}:00.000Z`,
      answered_at: answered ? "2026-11-15T11:00:00.000Z" : null,
    });
  const known = (...all: ReturnType<typeof asked>[]) => new Map(all.map((one) => [one.id, one]));
  const ids = (all: readonly { id: string }[]) => all.map((one) => one.id);

  it("keep their places when answered", () => {
    const [a, b, c] = [asked("a", 1), asked("b", 2, true), asked("c", 3)];
    expect(ids(inPlace(known(a, b, c), [a, c], new Set(["a", "b", "c"])))).toEqual(["a", "b", "c"]);
  });

  it("are absent when answered earlier or deleted", () => {
    const [a, b] = [asked("a", 1), asked("b", 2, true)];
    expect(ids(inPlace(known(a, b), [a], new Set(["a", "gone"])))).toEqual(["a"]);
  });

  it("are shown one by one, and the first follows the last", () => {
    const open = [asked("a", 1), asked("b", 2), asked("c", 3)];
    const [a, , c] = open;
    expect(nextOf(open, a)?.id).toBe("b");
    expect(nextOf(open, c)?.id).toBe("a");
  });

  it("continue with the next one after an answer", () => {
    const [a, c] = [asked("a", 1), asked("c", 3)];
    expect(nextOf([a, c], asked("b", 2, true))?.id).toBe("c");
    expect(nextOf([a], asked("b", 2, true))?.id).toBe("a");
    expect(nextOf([], asked("b", 2, true))).toBeUndefined();
  });
});
