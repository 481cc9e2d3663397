import type { AssignStrategy, WorkerStatus } from "../../protocol";
import type { Look } from "../look";

/** How a worker's status is shown. */
export const WORKER: Record<
  WorkerStatus,
  Look<"idle" | "active" | "blocked" | "offline" | "abandoned" | "failed" | "ready">
> = {
  idle: { tone: "ready", word: "Idle", meaning: "It would take a task." },
  working: { tone: "active", word: "Working", meaning: "It has a task." },
  paused: { tone: "idle", word: "Paused", meaning: "It resumes by itself." },
  offline: {
    tone: "failed",
    word: "Breaker open",
    meaning: "It failed too often in a row; one trial comes later.",
  },
  spent: { tone: "blocked", word: "Budget spent", meaning: "It takes nothing until its budget is raised." },
  stopping: { tone: "idle", word: "Stopping", meaning: "It ends with its task." },
  stopped: { tone: "abandoned", word: "Stopped", meaning: "It takes nothing until it is started again." },
  lost: { tone: "offline", word: "Not heard from", meaning: "It gave no sign of life for too long." },
};

/** How tasks are handed out. */
export const STRATEGY: Record<AssignStrategy, { word: string; meaning: string }> = {
  round_robin: { word: "Round-robin", meaning: "Each free worker in turn." },
  least_loaded: { word: "Least loaded", meaning: "The free worker that has done least." },
  capability: { word: "By ability", meaning: "The free worker whose abilities fit most closely." },
  stealing: {
    word: "Work stealing",
    meaning: "Tasks wait at workers; who has nothing left takes from the longest queue.",
  },
};

/** What a decision is called. */
export function decisionWord(what: string): string {
  const words = what.replaceAll("_", " ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}
