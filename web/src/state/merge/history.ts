import type { CheckOutcome, MergeRun, MergeRunCheck } from "../../protocol";
import { WHAT, duration } from "./merge";

const RESULT: Record<MergeRun["state"], string> = {
  open: "running",
  green: "checks passed",
  red: "checks failed",
  unproven: "no result",
  landed: "pushed",
  not_landed: "not pushed",
  cancelled: "cancelled",
  lost: "runner did not answer",
};

const OUTCOME: Record<CheckOutcome, string> = {
  passed: "passed",
  failed: "failed",
  timed_out: "timed out",
  not_run: "did not run",
  infrastructure: "could not run because of its machine",
};

/** What a run did and how it ended: "Testing alone: checks failed". */
export function titleOf(run: Pick<MergeRun, "purpose" | "state">): string {
  const found = run.purpose === "look" && run.state === "green";
  return `${WHAT[run.purpose]}: ${found ? "no conflict" : RESULT[run.state]}`;
}

/** How a check ended: "timed out after 3 min". */
export function outcomeOf({ outcome, duration_ms }: Pick<MergeRunCheck, "outcome" | "duration_ms">): string {
  const ran = outcome !== "not_run" && outcome !== "infrastructure";
  return ran ? `${OUTCOME[outcome]} after ${duration(duration_ms)}` : OUTCOME[outcome];
}
