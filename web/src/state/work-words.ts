import type {
  AnswerAct,
  AssignStrategy,
  AttemptOutcome,
  Criterion,
  ReportVerdict,
  TaskStatus,
  WorkerStatus,
} from "../protocol";

/** A state's colour and icon, its word, and what is true in it. */
export type Look<T extends string> = { tone: T; word: string; meaning: string };

/** How a task's status is shown. */
export const TASK: Record<
  TaskStatus,
  Look<
    | "blocked"
    | "ready"
    | "starting"
    | "active"
    | "checking"
    | "waiting"
    | "completed"
    | "failed"
    | "abandoned"
  >
> = {
  blocked: { tone: "blocked", word: "Blocked", meaning: "It waits for others, or one of them failed." },
  ready: { tone: "ready", word: "Ready", meaning: "Nothing is in its way, and nobody has it." },
  assigned: { tone: "starting", word: "Assigned", meaning: "A worker has it and has not begun." },
  running: { tone: "active", word: "Running", meaning: "Its worker works." },
  reported: { tone: "checking", word: "Reported", meaning: "A report is there; it is checked next." },
  validating: { tone: "checking", word: "Validating", meaning: "Its acceptance is being checked." },
  done: { tone: "completed", word: "Done", meaning: "Its report was accepted." },
  failed: { tone: "failed", word: "Failed", meaning: "It will not be done unless somebody retries it." },
  escalated: { tone: "waiting", word: "Needs you", meaning: "A person must decide." },
  cancelled: { tone: "abandoned", word: "Cancelled", meaning: "Nobody wants it any more." },
};

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

/** How a hold on a task ended. */
export const OUTCOME: Record<
  AttemptOutcome,
  Look<"active" | "completed" | "failed" | "offline" | "idle" | "waiting" | "abandoned">
> = {
  open: { tone: "active", word: "At it", meaning: "It has not ended." },
  accepted: { tone: "completed", word: "Accepted", meaning: "Its report was accepted." },
  refused: { tone: "failed", word: "Refused", meaning: "Its reports were refused too often." },
  failed: { tone: "failed", word: "Failed", meaning: "It could not do it, or its process failed." },
  lost: { tone: "offline", word: "Lost", meaning: "It was not heard from until its lease ended." },
  released: { tone: "idle", word: "Given back", meaning: "It was stopped or gave the task back." },
  taken_over: { tone: "idle", word: "Taken over", meaning: "A person took the task over." },
  escalated: { tone: "waiting", word: "Asked a person", meaning: "It asked for a person and let go." },
  cancelled: { tone: "abandoned", word: "Cancelled", meaning: "The task was cancelled." },
};

/** What became of a report. */
export const VERDICT: Record<ReportVerdict, Look<"checking" | "completed" | "failed" | "offline">> = {
  pending: { tone: "checking", word: "Being checked", meaning: "Its acceptance is being checked." },
  accepted: { tone: "completed", word: "Accepted", meaning: "It meets the acceptance." },
  refused: { tone: "failed", word: "Refused", meaning: "It does not meet the acceptance." },
  late: {
    tone: "offline",
    word: "Late",
    meaning: "It came under a lease that was lost: kept, shown, and changes nothing.",
  },
};

/** What an answer does. */
export const ACT: Record<AnswerAct, { word: string; meaning: string }> = {
  accept: { word: "Accept", meaning: "The report is accepted as it is." },
  retry: { word: "Try again", meaning: "A worker gets the task again, with your answer." },
  tell: { word: "Answer", meaning: "The worker that asks is told, and goes on." },
  fail: { word: "Let it fail", meaning: "The task fails; what depends on it stays blocked." },
  cancel: { word: "Cancel the task", meaning: "Nobody works on it any more." },
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

/** A criterion in words that say what must be true. */
export function criterionText(criterion: Criterion): string {
  switch (criterion.kind) {
    case "file_exists":
      return `${criterion.path} is there`;
    case "file_matches":
      return `${criterion.path} ${fileRules(criterion).join(", ") || "is there"}`;
    case "command": {
      const code = criterion.exit_code ?? 0;
      return `${criterion.argv.join(" ")} ${code === 0 ? "passes" : `exits with ${code}`}`;
    }
    case "only_touches":
      return `only ${criterion.globs.join(", ")} changed`;
    case "no_conflict_with_base":
      return "no conflict with the base branch";
    case "committed":
      return "everything is committed";
    case "text":
      return criterion.text;
  }
}

function fileRules(one: Extract<Criterion, { kind: "file_matches" }>): string[] {
  return [
    one.regex === undefined ? "" : `has /${one.regex}/`,
    one.not_regex === undefined ? "" : `has no /${one.not_regex}/`,
    one.min_words === undefined ? "" : `has at least ${one.min_words} words`,
    one.json_schema === undefined ? "" : "fits its JSON Schema",
    one.parses === undefined ? "" : `is whole ${one.parses.toUpperCase()}`,
  ].filter(Boolean);
}

/** Hundredths as a number with two digits. */
export function hundredths(value: number): string {
  return (value / 100).toFixed(2);
}

/** A stretch of time in one or two units. */
export function spanOf(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  const seconds = ms / 1_000;
  if (seconds < 60) return `${seconds.toFixed(seconds < 10 ? 1 : 0)} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${Math.floor(seconds % 60)} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** How long something has lasted, as far as that matters at a glance. */
export function lasting(ms: number): string {
  const minutes = Math.floor(ms / 60_000);
  if (minutes < 1) return "for a moment";
  if (minutes < 60) return `for ${minutes} min`;
  const hours = Math.floor(minutes / 60);
  return hours < 24
    ? `for ${hours} h ${minutes % 60} min`
    : `for ${Math.floor(hours / 24)} d ${hours % 24} h`;
}

/** What the hub or a worker says, in one line and without marks, where there is room for few words. */
export function plain(text: string): string {
  return text
    .replaceAll(/`([^`\n]+)`/gu, "$1")
    .split("\n")
    .map((line) => line.trim())
    .filter(Boolean)
    .join(" · ");
}
