import { expect, it } from "vitest";
import type { Execution, Schedule } from "../../protocol";
import { apply } from "../hub/apply";
import { EMPTY } from "../hub/floor";
import { parseRoute, pathOf } from "../shell/route";

const execution = (revision: number) => ({ id: "e", project: "p", revision }) as Execution;

it("an answer that is older than a change does not replace it", () => {
  const moved = apply(EMPTY, {
    type: "delta",
    seq: 1,
    change: { kind: "execution", execution: execution(3) },
  } as Parameters<typeof apply>[1]);
  const answer = (revision: number) =>
    apply(moved, {
      type: "answer",
      answer: { kind: "execution", value: execution(revision) },
    } as Parameters<typeof apply>[1]);
  expect(answer(2).executions.get("e")?.revision).toBe(3);
  expect(answer(4).executions.get("e")?.revision).toBe(4);
});

it("a schedule is there until it is removed", () => {
  const frame = (change: object) => ({ type: "delta", seq: 1, change }) as Parameters<typeof apply>[1];
  const added = apply(EMPTY, frame({ kind: "schedule", schedule: { id: "s" } as Schedule }));
  expect(added.schedules.size).toBe(1);
  expect(apply(added, frame({ kind: "schedule_removed", schedule: "s" })).schedules.size).toBe(0);
});

it("URLs name the recipe, the execution with its step, and the schedule", () => {
  for (const path of [
    "/p/x/recipes",
    "/p/x/recipes/r",
    "/p/x/recipes/r?edit",
    "/p/x/recipes/new",
    "/p/x/recipes/new?template=fix-issue",
    "/p/x/executions",
    "/p/x/executions/e?step=fan%5Bleft%5D%2Fbuild",
    "/p/x/schedules",
    "/p/x/schedules/s",
  ]) {
    const [at = "", search] = path.split("?");
    expect(pathOf(parseRoute(at, search ? `?${search}` : ""))).toBe(path);
  }
});
