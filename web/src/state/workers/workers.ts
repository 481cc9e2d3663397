import type { Escalation, Project, Session, Usage, UserRef, Worker, WorkEntry } from "../../protocol";
import { type Colours, colourOf, coloursOf } from "../colours";
import type { Floor } from "../hub/floor";
import { put } from "../../lib/maps";

/** How many decisions are kept that were heard. */
const DECISIONS = 200;

/** The decisions of a project with one more, newest first. */
export function decided(known: Floor["decisions"], entry: WorkEntry): Floor["decisions"] {
  const before = known.get(entry.project) ?? [];
  if (before.some((one) => one.number === entry.number)) return known;
  const next = [entry, ...before].sort((a, b) => b.number - a.number).slice(0, DECISIONS);
  return put(known, entry.project, next);
}

/** What was fetched and what was heard, each once, newest first. */
export function decisions(fetched: readonly WorkEntry[], heard: readonly WorkEntry[]): WorkEntry[] {
  const all = new Map([...heard, ...fetched].map((entry) => [entry.number, entry]));
  return [...all.values()].sort((a, b) => b.number - a.number);
}

/** The colours of a session: its worker's, else its own. */
export function sessionColours(session: Pick<Session, "id" | "worker">): Colours {
  return session.worker ? colourOf(session.worker.colour) : coloursOf(session.id);
}

const byName = new Intl.Collator("en", { numeric: true, sensitivity: "base" });

/** The workers of a project by name, so that each stays where it is whatever it does; stopped ones last. */
export function workersOf(floor: Floor, project: string): Worker[] {
  const last = (worker: Worker) => Number(worker.status === "stopped");
  return [...floor.workers.values()]
    .filter((worker) => worker.project === project)
    .sort((a, b) => last(a) - last(b) || byName.compare(a.name, b.name) || (a.id < b.id ? -1 : 1));
}

/** Whether the time until which a worker waits is over, so that the next task is its trial. */
export function isDue(worker: Pick<Worker, "until">, now: number): boolean {
  return worker.until !== null && Date.parse(worker.until) <= now;
}

/** Whether a worker would go on by itself, or is at it. */
export function isUp(worker: Worker): boolean {
  return worker.status !== "stopped" && worker.status !== "stopping";
}

/** What a worker's last sign was: one that a runner starts for each task says nothing between two of them. */
export function signOf(worker: Pick<Worker, "kind" | "task">): string {
  return worker.kind === "managed" && worker.task === null ? "last at work" : "heard";
}

/** What is left of a budget, from 0 to 1; null when there is none. */
export function spentOf(used: number | null, budget: number | null): number | null {
  if (budget === null || budget <= 0) return null;
  return Math.min(1, Math.max(0, (used ?? 0) / budget));
}

/** Whether tokens were told and no cost: what is spent is not known then, and no budget stops it. */
export function tellsNoCost(usage: Usage): boolean {
  return usage.cost_micros === null && usage.input_tokens + usage.output_tokens > 0;
}

/** The escalations that nobody has answered, longest first. */
export function openEscalations(floor: Floor, project?: string): Escalation[] {
  return [...floor.escalations.values()]
    .filter((one) => one.answered_at === null && (project === undefined || one.project === project))
    .sort((a, b) => (a.created_at < b.created_at ? -1 : a.created_at > b.created_at ? 1 : 0));
}

/** Those of them that wait for this person: about their project, or asked by a worker of theirs. */
export function escalationsFor(floor: Floor): Escalation[] {
  const me = floor.me?.user?.id;
  if (!me) return [];
  return openEscalations(floor).filter(
    (one) =>
      floor.projects.get(one.project)?.owner.id === me ||
      floor.workers.get(one.worker ?? "")?.owner.id === me,
  );
}

/** The projects in which nothing is handed out, because their owner stopped everything. */
export function frozenProjects(floor: Floor): Project[] {
  return [...floor.work].flatMap(([id, settings]) => {
    const project = floor.projects.get(id);
    return settings.frozen && project ? [project] : [];
  });
}

/** Who else stopped everything in a project. */
export function othersFrozen(floor: Floor, project: string): UserRef[] {
  const me = floor.me?.user?.id;
  return (floor.work.get(project)?.frozen_by ?? []).filter((one) => one.id !== me);
}

/** What this person stopped: their projects that hand out nothing, and their workers that take nothing. */
export function myFreeze(floor: Floor): { projects: Project[]; workers: number } | null {
  const me = floor.me?.user?.id;
  const projects = frozenProjects(floor).filter((project) => project.owner.id === me);
  let workers = 0;
  for (const worker of floor.workers.values())
    if (worker.owner.id === me && worker.status === "paused" && worker.until === null && isThawable(worker))
      workers += 1;
  return me && (projects.length > 0 || workers > 0) ? { projects, workers } : null;
}

// The hub says in words why a worker pauses; those that were stopped with everything are told how to go on.
function isThawable(worker: Worker): boolean {
  return worker.reason?.includes("thaw") ?? false;
}
