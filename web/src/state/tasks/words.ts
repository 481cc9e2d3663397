import { count } from "../../lib/plural";
import type { AttemptOutcome, Criterion, Deliverables, ReportVerdict, TaskStatus } from "../../protocol";
import type { Look } from "../look";

/** The look of a task's status. */
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
  blocked: { tone: "blocked", word: "Blocked", meaning: "Waiting for other tasks, or one of them failed." },
  ready: { tone: "ready", word: "Ready", meaning: "Ready to be taken by a worker." },
  assigned: { tone: "starting", word: "Assigned", meaning: "Assigned to a worker, not started yet." },
  running: { tone: "active", word: "Running", meaning: "A worker is working on it." },
  reported: {
    tone: "checking",
    word: "Reported",
    meaning: "The worker sent a report, which will be checked.",
  },
  validating: { tone: "checking", word: "Validating", meaning: "The acceptance criteria are being checked." },
  done: { tone: "completed", word: "Done", meaning: "The report was accepted." },
  failed: { tone: "failed", word: "Failed", meaning: "Failed. Retry the task to continue." },
  escalated: { tone: "waiting", word: "Needs you", meaning: "Waiting for a person to decide." },
  cancelled: { tone: "abandoned", word: "Cancelled", meaning: "Cancelled by a person." },
};

/** How an attempt ended. */
export const OUTCOME: Record<
  AttemptOutcome,
  Look<"active" | "completed" | "failed" | "offline" | "idle" | "waiting" | "abandoned">
> = {
  open: { tone: "active", word: "In progress", meaning: "The worker is working on it." },
  accepted: { tone: "completed", word: "Accepted", meaning: "The report was accepted." },
  refused: { tone: "failed", word: "Rejected", meaning: "The reports were rejected too often." },
  failed: { tone: "failed", word: "Failed", meaning: "The worker gave up, or its process failed." },
  lost: { tone: "offline", word: "Lost", meaning: "The worker stopped responding and its lease expired." },
  released: { tone: "idle", word: "Returned", meaning: "The worker was stopped or returned the task." },
  taken_over: { tone: "idle", word: "Taken over", meaning: "A person took over the task." },
  escalated: {
    tone: "waiting",
    word: "Asked a person",
    meaning: "The worker asked a person and released the task.",
  },
  cancelled: { tone: "abandoned", word: "Cancelled", meaning: "The task was cancelled." },
};

/** The look of a report's verdict. */
export const VERDICT: Record<ReportVerdict, Look<"checking" | "completed" | "failed" | "offline">> = {
  pending: { tone: "checking", word: "Checking", meaning: "The acceptance criteria are being checked." },
  accepted: { tone: "completed", word: "Accepted", meaning: "The report meets the acceptance criteria." },
  refused: { tone: "failed", word: "Rejected", meaning: "The report does not meet the acceptance criteria." },
  late: {
    tone: "offline",
    word: "Late",
    meaning: "The report arrived after the lease had expired. It is kept but has no effect.",
  },
};

/** A criterion as a statement. */
export function criterionText(criterion: Criterion): string {
  switch (criterion.kind) {
    case "file_exists":
      return `${criterion.path} exists`;
    case "file_matches":
      return `${criterion.path} ${fileRules(criterion).join(", ") || "exists"}`;
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
    case "approved":
      return "a person approves the changes";
    case "merged":
      return "the work is merged";
    case "text":
      return criterion.text;
  }
}

function fileRules(one: Extract<Criterion, { kind: "file_matches" }>): string[] {
  return [
    one.regex === undefined ? "" : `matches /${one.regex}/`,
    one.not_regex === undefined ? "" : `does not match /${one.not_regex}/`,
    one.min_words === undefined ? "" : `has at least ${count(one.min_words, "word")}`,
    one.json_schema === undefined ? "" : "matches its JSON Schema",
    one.parses === undefined ? "" : `is valid ${one.parses.toUpperCase()}`,
  ].filter(Boolean);
}

/** Maximum number of commit ids in a line. */
const NAMED = 4;

/** Short ids of the newest commits, and the number of earlier ones. */
export function commitsOf({ commits, more_commits }: Pick<Deliverables, "commits" | "more_commits">): string {
  const newest = commits.slice(-NAMED).map((one) => one.slice(0, 9));
  const earlier = commits.length - newest.length + more_commits;
  return [...(earlier > 0 ? [`${earlier} earlier`] : []), ...newest].join(" ");
}
