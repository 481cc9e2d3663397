import type { TaskStatus } from "../../protocol";

/** Done tasks beside all tasks that count; cancelled ones do not. */
export type Progress = { done: number; total: number; percent: number | null };

/** The progress of tasks, given as numbers of tasks by status; the same as the CLI's. */
export function progressOf(counts: Iterable<readonly [TaskStatus, number]>): Progress {
  let done = 0;
  let total = 0;
  for (const [status, count] of counts) {
    if (status === "cancelled") continue;
    total += count;
    if (status === "done") done += count;
  }
  return { done, total, percent: total === 0 ? null : Math.floor((done * 100) / total) };
}

/** The progress in words. */
export function progressWords({ done, total, percent }: Progress): string {
  return percent === null ? "Nothing to do" : `${done} of ${total} done, ${percent} %`;
}
