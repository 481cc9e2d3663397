import type { Escalation, Project, Session, Usage, UserRef, Worker, WorkEntry } from "../../protocol";
import { type Colours, colourOf, coloursOf } from "../colours";
import type { Floor } from "../hub/floor";
import { put } from "../../lib/maps";

/** Maximum number of decisions to keep per project. */
const DECISIONS = 200;

/** The decisions with one more, newest first. */
export function decided(known: Floor["decisions"], entry: WorkEntry): Floor["decisions"] {
  const before = known.get(entry.project) ?? [];
  if (before.some((one) => one.number === entry.number)) return known;
  const next = [entry, ...before].sort((a, b) => b.number - a.number).slice(0, DECISIONS);
  return put(known, entry.project, next);
}

/** Fetched and live decisions without duplicates, newest first. */
export function decisions(fetched: readonly WorkEntry[], heard: readonly WorkEntry[]): WorkEntry[] {
  const all = new Map([...heard, ...fetched].map((entry) => [entry.number, entry]));
  return [...all.values()].sort((a, b) => b.number - a.number);
}

/** The colours of a session: those of its worker, otherwise its own. */
export function sessionColours(session: Pick<Session, "id" | "worker">): Colours {
  return session.worker ? colourOf(session.worker.colour) : coloursOf(session.id);
}

const byName = new Intl.Collator("en", { numeric: true, sensitivity: "base" });

/** The workers of a project, by name, so that a change of status moves nothing; stopped ones last. */
export function workersOf(floor: Floor, project: string): Worker[] {
  const last = (worker: Worker) => Number(worker.status === "stopped");
  return [...floor.workers.values()]
    .filter((worker) => worker.project === project)
    .sort((a, b) => last(a) - last(b) || byName.compare(a.name, b.name) || (a.id < b.id ? -1 : 1));
}

/** Whether a worker's pause is over, so that the next task is its trial. */
export function isDue(worker: Pick<Worker, "until">, now: number): boolean {
  return worker.until !== null && Date.parse(worker.until) <= now;
}

/** Whether a worker is neither stopped nor stopping. */
export function isUp(worker: Worker): boolean {
  return worker.status !== "stopped" && worker.status !== "stopping";
}

/** The label of a worker's last heartbeat; managed workers send none between tasks. */
export function signOf(worker: Pick<Worker, "kind" | "task">): string {
  return worker.kind === "managed" && worker.task === null ? "last active" : "last seen";
}

/** The used part of a budget, from 0 to 1; null without a budget. */
export function spentOf(used: number | null, budget: number | null): number | null {
  if (budget === null || budget <= 0) return null;
  return Math.min(1, Math.max(0, (used ?? 0) / budget));
}

/** Whether tokens were reported without a cost; the budget has no effect then. */
export function tellsNoCost(usage: Usage): boolean {
  return usage.cost_micros === null && usage.input_tokens + usage.output_tokens > 0;
}

/** The open escalations, oldest first. */
export function openEscalations(floor: Floor, project?: string): Escalation[] {
  return [...floor.escalations.values()]
    .filter((one) => one.answered_at === null && (project === undefined || one.project === project))
    .sort((a, b) => (a.created_at < b.created_at ? -1 : a.created_at > b.created_at ? 1 : 0));
}

/** The open escalations in this person's projects or of this person's workers. */
export function escalationsFor(floor: Floor): Escalation[] {
  const me = floor.me?.user?.id;
  if (!me) return [];
  return openEscalations(floor).filter(
    (one) =>
      floor.projects.get(one.project)?.owner.id === me ||
      floor.workers.get(one.worker ?? "")?.owner.id === me,
  );
}

/** The projects that their owner froze. */
export function frozenProjects(floor: Floor): Project[] {
  return [...floor.work].flatMap(([id, settings]) => {
    const project = floor.projects.get(id);
    return settings.frozen && project ? [project] : [];
  });
}

/** Other people who froze their work in a project. */
export function othersFrozen(floor: Floor, project: string): UserRef[] {
  const me = floor.me?.user?.id;
  return (floor.work.get(project)?.frozen_by ?? []).filter((one) => one.id !== me);
}

/** This person's frozen projects and number of frozen workers; null when nothing is frozen. */
export function myFreeze(floor: Floor): { projects: Project[]; workers: number } | null {
  const me = floor.me?.user?.id;
  const projects = frozenProjects(floor).filter((project) => project.owner.id === me);
  let workers = 0;
  for (const worker of floor.workers.values())
    if (worker.owner.id === me && worker.status === "paused" && worker.until === null && isThawable(worker))
      workers += 1;
  return me && (projects.length > 0 || workers > 0) ? { projects, workers } : null;
}

// The hub's reasons for frozen workers contain this word.
function isThawable(worker: Worker): boolean {
  return worker.reason?.includes("thaw") ?? false;
}
