/** An error as people read it; the hub's problems have this shape. */
export type Problem = {
  /** The category of the error, such as `conflict`. */
  kind: string;
  /** The HTTP status, or 0 when there was no answer. */
  status: number;
  /** What happened and what to do about it. */
  detail: string;
  /** The rejected fields. */
  errors?: readonly { field: string; message: string }[];
  /** How long to wait before the next attempt. */
  retry_after_seconds?: number;
};

/** An error that carries a problem to show. */
export class Failure extends Error {
  constructor(readonly problem: Problem) {
    super(problem.detail);
    this.name = "Failure";
  }
}

/** Any thrown value as a problem to show beside the control that failed. */
export function asProblem(thrown: unknown): Problem {
  if (thrown instanceof Failure) return thrown.problem;
  const detail = thrown instanceof Error ? thrown.message : String(thrown);
  return { kind: "internal", status: 0, detail };
}
