import type {
  ExecutionStatus,
  ExecutionStep,
  Overlap,
  StepKind,
  StepStatus,
  TickOutcome,
} from "../../protocol";

/** The colour and icon of a state. */
export type Tone =
  "active" | "waiting" | "blocked" | "failed" | "completed" | "abandoned" | "starting" | "ready" | "idle";

/** A state in words. */
export type Look = { word: string; tone: Tone };

const EXECUTION: Record<ExecutionStatus, Look> = {
  running: { word: "Running", tone: "active" },
  waiting: { word: "Waiting", tone: "idle" },
  paused: { word: "Paused", tone: "blocked" },
  completed: { word: "Completed", tone: "completed" },
  failed: { word: "Failed", tone: "failed" },
  cancelled: { word: "Cancelled", tone: "abandoned" },
};

const STEP: Record<StepStatus, Look> = {
  pending: { word: "Not started", tone: "ready" },
  running: { word: "Running", tone: "active" },
  waiting: { word: "Waiting", tone: "idle" },
  retrying: { word: "Retries soon", tone: "starting" },
  held: { word: "Paused", tone: "blocked" },
  interrupted: { word: "Interrupted", tone: "waiting" },
  succeeded: { word: "Succeeded", tone: "completed" },
  failed: { word: "Failed", tone: "failed" },
  skipped: { word: "Skipped", tone: "abandoned" },
  cancelled: { word: "Stopped", tone: "abandoned" },
};

const ATTEMPT: Record<string, Look> = {
  waiting: STEP.waiting,
  running: STEP.running,
  succeeded: STEP.succeeded,
  failed: STEP.failed,
  interrupted: STEP.interrupted,
  stopped: STEP.cancelled,
};

/** The state of an execution; one that needs a person says so. */
export function lookOf(execution: { status: ExecutionStatus; needs_person: boolean }): Look {
  const open = execution.status === "running" || execution.status === "waiting";
  return execution.needs_person && open
    ? { word: "Needs you", tone: "waiting" }
    : EXECUTION[execution.status];
}

/** The state of a step; null: it has not begun. */
export function stepLook(step: Pick<ExecutionStep, "status" | "question"> | null): Look {
  if (!step) return STEP.pending;
  if (step.status === "waiting" && step.question) return { word: "Needs an answer", tone: "waiting" };
  return STEP[step.status];
}

/** The state of an attempt. */
export function attemptLook(state: string): Look {
  return ATTEMPT[state] ?? { word: state, tone: "idle" };
}

/** The kinds of steps. */
export const KIND: Record<
  StepKind,
  {
    word: string;
    icon:
      | "spark"
      | "board"
      | "terminal"
      | "history"
      | "people"
      | "branch"
      | "graph"
      | "sync"
      | "bell"
      | "take"
      | "send"
      | "stop";
  }
> = {
  agent: { word: "Agent", icon: "spark" },
  task: { word: "Tasks", icon: "board" },
  run: { word: "Command", icon: "terminal" },
  wait: { word: "Wait", icon: "history" },
  approve: { word: "Approval", icon: "people" },
  branch: { word: "Branch", icon: "branch" },
  parallel: { word: "Parallel", icon: "graph" },
  for_each: { word: "For each", icon: "sync" },
  notify: { word: "Notify", icon: "bell" },
  merge: { word: "Merge", icon: "take" },
  call: { word: "Recipe", icon: "send" },
  end: { word: "End", icon: "stop" },
};

/** What became of a tick. */
export const OUTCOME: Record<TickOutcome, Look> = {
  started: { word: "Started", tone: "completed" },
  queued: { word: "Queued", tone: "idle" },
  skipped: { word: "Skipped", tone: "abandoned" },
  missed: { word: "Missed", tone: "blocked" },
  failed: { word: "Failed", tone: "failed" },
};

/** What happens when a schedule is due while its last execution is not over. */
export const OVERLAP: Record<Overlap, string> = {
  skip: "Skip the new one",
  queue_one: "Queue one",
  queue_all: "Queue all, up to a limit",
  cancel_running: "Cancel the running one",
  allow: "Run both",
};
