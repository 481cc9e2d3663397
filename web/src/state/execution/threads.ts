import type { Review, ReviewThread, TaskStatus, ThreadStatus } from "../../protocol";

/** What became of a thread of comments. */
export const THREAD: Record<
  ThreadStatus,
  { word: string; meaning: string; icon: "waiting" | "send" | "check" }
> = {
  open: { word: "Open", meaning: "The agent gets it when you send the work back.", icon: "waiting" },
  sent: { word: "Sent", meaning: "The agent has got it.", icon: "send" },
  resolved: { word: "Resolved", meaning: "Nothing is left to do.", icon: "check" },
};

/** The lines of a thread, such as `src/a.rs:3-5`. */
export function placeOf({ path, line, end_line, side }: Omit<ReviewThread, "id">): string {
  const end = end_line > line ? `-${end_line}` : "";
  return `${path}:${line}${end}${side === "old" ? " (before)" : ""}`;
}

/** Whether a person can approve the work of a task in this state, or send it back. */
export function verdictsFor(
  status: TaskStatus,
  review: Pick<Review, "report" | "tree"> | null,
): { approve: boolean; sendBack: boolean } {
  const waits = status === "escalated" && review?.report != null;
  const seen = status === "done" && review?.tree != null;
  return {
    approve: waits || seen,
    sendBack: ["escalated", "reported", "validating", "assigned", "running"].includes(status),
  };
}

/** Threads by the path of their file. */
export function threadsByFile(threads: readonly ReviewThread[]): ReadonlyMap<string, ReviewThread[]> {
  const found = new Map<string, ReviewThread[]>();
  for (const thread of threads) found.set(thread.path, [...(found.get(thread.path) ?? []), thread]);
  return found;
}
