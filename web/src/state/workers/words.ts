import type { AssignStrategy, WorkerStatus } from "../../protocol";
import type { Look } from "../look";

/** The look of a worker's status. */
export const WORKER: Record<
  WorkerStatus,
  Look<"idle" | "active" | "blocked" | "offline" | "abandoned" | "failed" | "ready">
> = {
  idle: { tone: "ready", word: "Idle", meaning: "Ready to take a task." },
  working: { tone: "active", word: "Working", meaning: "Working on a task." },
  paused: { tone: "idle", word: "Paused", meaning: "Paused; resumes automatically." },
  offline: {
    tone: "failed",
    word: "Breaker open",
    meaning: "Too many consecutive failures. The worker gets a trial task later.",
  },
  spent: { tone: "blocked", word: "Budget spent", meaning: "Takes no tasks until its budget is raised." },
  stopping: { tone: "idle", word: "Stopping", meaning: "Stopping its current task." },
  stopped: { tone: "abandoned", word: "Stopped", meaning: "Takes no tasks until it is started again." },
  lost: { tone: "offline", word: "Unresponsive", meaning: "The worker missed too many heartbeats." },
};

/** The assignment strategies. */
export const STRATEGY: Record<AssignStrategy, { word: string; meaning: string }> = {
  round_robin: { word: "Round-robin", meaning: "Free workers take turns." },
  least_loaded: { word: "Least loaded", meaning: "The free worker with the fewest tasks so far." },
  capability: { word: "By ability", meaning: "The free worker whose abilities match best." },
  stealing: {
    word: "Work stealing",
    meaning: "Each worker has a queue; idle workers take tasks from the longest one.",
  },
};

/** The heading of a decision. */
export function decisionWord(what: string): string {
  const words = what.replaceAll("_", " ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}
