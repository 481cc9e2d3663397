import type { AttemptOutcome, Criterion, Deliverables, ReportVerdict, TaskStatus } from "../../protocol";
import type { Look } from "../look";

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

/** How many commits a line names. */
const NAMED = 4;

/** The newest commits in short, and how many there are before them. */
export function commitsOf({ commits, more_commits }: Pick<Deliverables, "commits" | "more_commits">): string {
  const newest = commits.slice(-NAMED).map((one) => one.slice(0, 9));
  const earlier = commits.length - newest.length + more_commits;
  return [...(earlier > 0 ? [`${earlier} earlier`] : []), ...newest].join(" ");
}
