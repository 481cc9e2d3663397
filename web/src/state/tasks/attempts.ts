import type { Attempt, Escalation } from "../../protocol";

/**
 * How long an ended attempt worked, in milliseconds: without the time in which it waited for a person. Null while it is
 * open. The same as in `shopfloor task show`.
 */
export function workedFor(
  { started_at, ended_at }: Pick<Attempt, "started_at" | "ended_at">,
  escalations: readonly Pick<Escalation, "created_at" | "answered_at">[],
): number | null {
  if (ended_at === null) return null;
  const [start, end] = [Date.parse(started_at), Date.parse(ended_at)];
  const breaks = escalations
    .map((one) => [
      Math.max(start, Date.parse(one.created_at)),
      Math.min(end, Date.parse(one.answered_at ?? ended_at)),
    ])
    .sort(([a = 0], [b = 0]) => a - b);
  let worked = Math.max(0, end - start);
  let reached = start;
  for (const [from = 0, to = 0] of breaks) {
    worked -= Math.max(0, to - Math.max(from, reached));
    reached = Math.max(reached, to);
  }
  return Math.max(0, worked);
}
