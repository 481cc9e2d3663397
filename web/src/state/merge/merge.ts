import type {
  Candidate,
  CandidateId,
  CandidateState,
  MergeGate,
  MergeQueue,
  MergeRun,
  Project,
  ProjectId,
} from "../../protocol";
import { put } from "../../lib/maps";
import { count } from "../../lib/plural";

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

/** What people must know about a project's merge queues. */
export type QueueSign = { target: string; tone: Tone; word: string; why: string };

/** The branches of a queue that a person must confirm. */
export function toConfirm(queue: Pick<MergeQueue, "candidates">): Candidate[] {
  return queue.candidates.filter((one) => one.state === "needs_person");
}

/** Queues that stand still, and queues that wait for a person. */
export function signsOf(queues: readonly MergeQueue[] | undefined): QueueSign[] {
  return (queues ?? []).flatMap((queue): QueueSign[] => {
    const { target } = queue;
    const held = toConfirm(queue).length;
    const stopped = STOPPED[queue.gate];
    if (stopped) {
      const waiting = queue.candidates.length;
      const word = `${stopped}${waiting > 0 ? `, ${waiting} waiting` : ""}`;
      return [{ target, tone: GATE[queue.gate].tone, word, why: queue.reason ?? GATE[queue.gate].word }];
    }
    if (held === 0) return [];
    const word = `${count(held, "branch")} to confirm`;
    return [{ target, tone: "waiting", word, why: "A person must confirm what lands." }];
  });
}

const STOPPED: Record<MergeGate, string | null> = {
  open: null,
  paused: "Merge queue paused",
  frozen: "Merge queue frozen",
  tip_red: "Merge queue frozen: checks fail",
};

/** Whether a queue needs this person: a project's owner, or who added one of the branches that it holds up. */
export function needsPerson(queue: MergeQueue, project: Pick<Project, "owner">, me: string): boolean {
  const held = queue.gate === "open" ? toConfirm(queue) : queue.candidates;
  if (project.owner.id === me) return held.length > 0 || queue.gate === "tip_red";
  return held.some((one) => one.added_by.id === me);
}

/** What a run is for, in words. */
export const WHAT: Record<MergeRun["purpose"], string> = {
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

/** Where the search for a branch that fails stands; `null` if no failure is known. */
export function searchOf(
  queue: Pick<MergeQueue, "target" | "candidates" | "failed_together" | "suspects">,
): string | null {
  const named = (ids: readonly CandidateId[]) =>
    queue.candidates
      .filter((one) => ids.includes(one.id))
      .map((one) => `\`${one.branch}\``)
      .join(", ");
  const together = queue.failed_together;
  if (queue.suspects.length > 0) {
    const each = queue.suspects.length > 1 ? "each is" : "it is";
    return `${named(queue.suspects)} failed; ${each} tested once more alone before it is sent back.`;
  }
  if (together.length > 1) return `At least one of ${named(together)} fails; the next runs find out which.`;
  if (together.length === 1) {
    return `${named(together)} failed; \`${queue.target}\` is tested without it next.`;
  }
  return null;
}

/** The flaky runs of a queue with the checks that failed in them; `null` without any. */
export function flakyOf(queue: Pick<MergeQueue, "flaky" | "flaky_checks">): string | null {
  if (queue.flaky === 0) return null;
  const checks = queue.flaky_checks.map((one) => `\`${one.argv.join(" ")}\``).join(", ");
  return count(queue.flaky, "flaky run") + (checks ? ` of ${checks}` : "");
}
