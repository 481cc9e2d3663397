import type { ExecutionAttempt } from "../../protocol";

/** An attempt on the timeline; places are parts of the whole, from 0 to 1. */
export type Bar = {
  key: string;
  attempt: ExecutionAttempt;
  /** Where the attempt was due. */
  from: number;
  /** Where its work began; its end if it never did. */
  began: number;
  to: number;
  waitedMs: number;
  ranMs: number;
};

/** The attempts on a line of time that ends with the execution, or now. */
export function barsOf(
  attempts: readonly ExecutionAttempt[],
  execution: { created_at: string; ended_at: string | null },
  now: number,
): Bar[] {
  const start = Date.parse(execution.created_at);
  const latest = attempts.map((one) => (one.ended_at ? Date.parse(one.ended_at) : 0));
  const end = Math.max(execution.ended_at ? Date.parse(execution.ended_at) : now, start + 1, ...latest);
  const place = (at: number) => Math.min(1, Math.max(0, (at - start) / (end - start)));
  return attempts.map((attempt) => {
    const from = Date.parse(attempt.created_at);
    const to = attempt.ended_at ? Date.parse(attempt.ended_at) : end;
    const began = attempt.began_at ? Date.parse(attempt.began_at) : to;
    return {
      key: `${attempt.path} ${attempt.attempt}`,
      attempt,
      from: place(from),
      began: place(Math.max(from, began)),
      to: place(to),
      waitedMs: Math.max(0, began - from),
      ranMs: Math.max(0, to - Math.max(from, began)),
    };
  });
}
