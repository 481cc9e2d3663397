import type { Problem } from "../protocol";

/** A refusal or failure that carries the hub's own words. */
export class Failure extends Error {
  constructor(readonly problem: Problem) {
    super(problem.detail);
    this.name = "Failure";
  }
}

/** Any thrown thing as a problem that can be shown beside what failed. */
export function asProblem(thrown: unknown): Problem {
  if (thrown instanceof Failure) return thrown.problem;
  const detail = thrown instanceof Error ? thrown.message : String(thrown);
  return { kind: "internal", status: 0, detail };
}
