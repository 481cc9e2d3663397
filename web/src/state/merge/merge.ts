import type {
  Candidate,
  CandidateId,
  CandidateState,
  MergeGate,
  MergeQueue,
  MergeRun,
  ProjectId,
} from "../../protocol";
import { put } from "../../lib/maps";

/** The look of a state. */
export type Tone = "waiting" | "active" | "checking" | "blocked" | "completed" | "failed" | "abandoned";

/** The queues of all projects after one has moved. */
export function queued(
  known: ReadonlyMap<ProjectId, readonly MergeQueue[]>,
  queue: MergeQueue,
): ReadonlyMap<ProjectId, readonly MergeQueue[]> {
  const others = (known.get(queue.project) ?? []).filter((other) => other.target !== queue.target);
  const all = [...others, queue].sort((a, b) => (a.target < b.target ? -1 : 1));
  return put(known, queue.project, all);
}

/** The state of a branch in words. */
export const CANDIDATE: Record<CandidateState, { word: string; tone: Tone }> = {
  waiting: { word: "Waiting", tone: "waiting" },
  testing: { word: "Testing", tone: "checking" },
  confirming: { word: "Testing alone", tone: "checking" },
  landing: { word: "Landing", tone: "active" },
  needs_person: { word: "Needs confirmation", tone: "blocked" },
  landed: { word: "Landed", tone: "completed" },
  ejected: { word: "Sent back", tone: "failed" },
  removed: { word: "Removed", tone: "abandoned" },
};

/** Whether a queue moves, in words. */
export const GATE: Record<MergeGate, { word: string; tone: Tone }> = {
  open: { word: "Open", tone: "active" },
  paused: { word: "Paused", tone: "blocked" },
  frozen: { word: "Frozen", tone: "blocked" },
  tip_red: { word: "Frozen: checks fail on the target branch", tone: "failed" },
};

const WHAT: Record<MergeRun["purpose"], string> = {
  look: "Looking for conflicts",
  search: "Testing together",
  confirm: "Testing alone",
  bare: "Testing the target branch",
  land: "Landing",
};

/** What a run does with which branches. */
export function describe(
  run: MergeRun,
  candidates: readonly Candidate[],
): { what: string; branches: string[] } {
  const names = new Map<CandidateId, string>(candidates.map((one) => [one.id, one.branch]));
  const branches = run.candidates.map((id) => names.get(id) ?? "a branch that left");
  const what = run.purpose === "search" && branches.length === 1 ? "Testing" : WHAT[run.purpose];
  return { what, branches };
}

/** A duration in words: 45 s, 3 min, 2.5 h. */
export function duration(ms: number): string {
  const seconds = ms / 1000;
  if (seconds < 90) return `${Math.round(seconds)} s`;
  if (seconds < 5400) return `${Math.round(seconds / 60)} min`;
  return `${(seconds / 3600).toFixed(1)} h`;
}
