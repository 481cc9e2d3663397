import type { Review, ReviewOf, ReviewThread, TaskStatus, ThreadStatus } from "../../protocol";

/** What became of a thread of comments. */
export const THREAD: Record<
  ThreadStatus,
  { word: string; meaning: string; icon: "waiting" | "send" | "check" }
> = {
  open: { word: "Open", meaning: "The agent gets it when you send the work back.", icon: "waiting" },
  sent: { word: "Sent", meaning: "The agent has got it.", icon: "send" },
  resolved: { word: "Resolved", meaning: "Nothing is left to do.", icon: "check" },
};

/** The id of what is reviewed. */
export function idOf(of: ReviewOf): string {
  return of.kind === "task" ? of.task : of.workspace;
}

/** The lines of a thread, such as `src/a.rs:3-5`. */
export function placeOf({ path, line, end_line, side }: Omit<ReviewThread, "id">): string {
  const end = end_line > line ? `-${end_line}` : "";
  return `${path}:${line}${end}${side === "old" ? " (before)" : ""}`;
}

/** What a person can do with the work of a task in this state. */
export type Verdicts = {
  approve: boolean;
  /** Whether the approval waits for changes that cannot be shown: nobody approves what nobody sees. */
  unseen: boolean;
  sendBack: boolean;
};

/** What a person can do with the work of a task in this state; `shown`: its changes are on the page; `landed`: they are on the target branch. */
export function verdictsFor(
  status: TaskStatus,
  review: Pick<Review, "report" | "tree"> | null,
  shown: boolean,
  landed = false,
): Verdicts {
  const hasTree = review?.tree != null;
  const waits = status === "escalated" && review?.report != null;
  const approve = waits || (status === "done" && hasTree && !landed);
  return {
    approve,
    unseen: approve && hasTree && !shown,
    sendBack: ["escalated", "reported", "validating", "assigned", "running"].includes(status),
  };
}

/** Threads by the path of their file. */
export function threadsByFile(threads: readonly ReviewThread[]): ReadonlyMap<string, ReviewThread[]> {
  const found = new Map<string, ReviewThread[]>();
  for (const thread of threads) found.set(thread.path, [...(found.get(thread.path) ?? []), thread]);
  return found;
}
