import type { Runner, Session, Workspace } from "../../protocol";
import { approvalDetail, waitsForApproval } from "../needs/approvals";
import type { Floor } from "../hub/floor";

/** How a session's state is shown: colour, icon and word together. */
export type Live = {
  tone: "starting" | "active" | "waiting" | "idle" | "completed" | "failed" | "offline";
  word: string;
  /** What it waits for, how it ended, or why it failed. */
  detail: string | null;
  since: string;
};

/** Whether a session's process is over. */
export function isOver(session: Session): boolean {
  return session.state.status === "exited" || session.state.status === "lost";
}

/** Whether a session's process never ran, so that there is neither a screen nor a recording of it. */
export function neverStarted({ state, recording }: Session): boolean {
  const unknown = state.status === "exited" && state.code === null && state.signal === null;
  return unknown && state.detail !== null && recording.output_bytes === 0 && recording.disk_bytes === 0;
}

/** The runner of a session when it is away: nothing can be fetched from it. */
export function absentRunner(floor: Floor, session: Session): Runner | null {
  const runner = floor.runners.get(session.runner);
  return runner && !runner.connected ? runner : null;
}

/** The runner of a session when it has not been heard from: nobody knows what its sessions are at. */
export function unreachableRunner(floor: Floor, session: Session): Runner | null {
  return isOver(session) ? null : absentRunner(floor, session);
}

/** What a session is at, as far as that is known. */
export function liveOf(floor: Floor, session: Session): Live {
  const { status, detail, since } = session.state;
  const lost = unreachableRunner(floor, session);
  if (lost) {
    const word = `Last seen ${WORD[status].toLowerCase()}`;
    return { tone: "offline", word, detail: "Its runner is unreachable", since: lost.last_seen_at ?? since };
  }
  if (session.stopping && !isOver(session)) return { tone: "idle", word: "Stopping", detail: null, since };
  if (status === "exited") return exited(session);
  if (status === "waiting") {
    const word = session.owner.id === floor.me?.user?.id ? "Waiting for you" : WORD.waiting;
    return { tone: "waiting", word, detail: approvalDetail(floor, session) ?? detail, since };
  }
  return { tone: TONE[status], word: WORD[status], detail, since };
}

/** The same in fewer words, for where there is little room. */
export function shortWord({ word }: Live): string {
  return word.startsWith("Last seen") ? "Unreachable" : word.replace(/,.*/, "");
}

const WORD: Record<Session["state"]["status"], string> = {
  starting: "Starting",
  working: "Working",
  waiting: "Waiting",
  idle: "Idle",
  exited: "Exited",
  lost: "Lost",
};

const TONE: Record<Session["state"]["status"], Live["tone"]> = {
  starting: "starting",
  working: "active",
  waiting: "waiting",
  idle: "idle",
  exited: "completed",
  lost: "failed",
};

/** How its process ended, in the words of `shopfloor session list`: whoever ended it, it is exited first. */
function exited(session: Session): Live {
  const { code, signal, since, detail } = session.state;
  const shown = (tone: Live["tone"], how: string): Live => ({
    tone,
    word: `${WORD.exited}${how}`,
    detail,
    since,
  });
  if (session.stopping) return shown("completed", ", stopped");
  if (signal !== null) return shown("failed", ` by signal ${signal}`);
  if (neverStarted(session)) return shown("failed", ", did not start");
  // Its runner has forgotten how it ended.
  if (code === null) return shown(detail === null ? "completed" : "offline", "");
  return shown(code === 0 ? "completed" : "failed", ` with ${code}`);
}

/** This person's sessions that wait for them and can be answered now, longest first; one that waits for an approval is not asked about twice. */
export function waitingFor(floor: Floor): Session[] {
  return allWaiting(floor).filter((one) => unreachableRunner(floor, one) === null);
}

function allWaiting(floor: Floor): Session[] {
  const me = floor.me?.user?.id;
  if (!me) return [];
  return [...floor.sessions.values()]
    .filter(
      (one) =>
        one.state.status === "waiting" &&
        one.owner.id === me &&
        !one.stopping &&
        !waitsForApproval(floor, one),
    )
    .sort((a, b) => (a.state.since < b.state.since ? -1 : 1));
}

/** What makes one wait of a session its own. */
export function waitKey(session: Session): string {
  return `${session.id} ${session.state.since}`;
}

/** Which of the waiting sessions have not been told yet; one that waits again is told again. */
export function newWaits(told: ReadonlySet<string>, waiting: readonly Session[]): Session[] {
  return waiting.filter((session) => !told.has(waitKey(session)));
}

/** Which waits are told now: a runner that comes and goes makes no news of an old one. */
export function toldWaits(told: ReadonlySet<string>, floor: Floor): string[] {
  return allWaiting(floor)
    .filter((one) => unreachableRunner(floor, one) === null || told.has(waitKey(one)))
    .map(waitKey);
}

const URGENCY: Record<Session["state"]["status"], number> = {
  waiting: 0,
  working: 1,
  starting: 1,
  idle: 2,
  lost: 3,
  exited: 3,
};

/** Sessions with what needs somebody first, then what runs, then what is over; newest first. */
export function bySessionUrgency(a: Session, b: Session): number {
  return (
    URGENCY[a.state.status] - URGENCY[b.state.status] ||
    (a.created_at < b.created_at ? 1 : a.created_at > b.created_at ? -1 : 0)
  );
}

/** The sessions of an activity or a project, in that order. */
export function sessionsOf(floor: Floor, where: { activity?: string; project?: string }): Session[] {
  return [...floor.sessions.values()]
    .filter(
      (one) =>
        (where.activity === undefined || one.activity === where.activity) &&
        (where.project === undefined || one.project === where.project),
    )
    .sort(bySessionUrgency);
}

const standing = new WeakMap<Floor["sessions"], Map<string, Session>>();

/** The session that says most about an activity: the one that needs somebody, or runs. */
export function liveSession(floor: Floor, activity: string): Session | undefined {
  let found = standing.get(floor.sessions);
  if (!found) {
    // Hundreds of rows ask the same: answer them from one walk.
    found = new Map();
    for (const one of [...floor.sessions.values()].sort(bySessionUrgency)) {
      if (!isOver(one) && !found.has(one.activity)) found.set(one.activity, one);
    }
    standing.set(floor.sessions, found);
  }
  return found.get(activity);
}

const failures = new WeakMap<Floor["sessions"], Map<string, Session>>();

/** The session that a person started for an activity last, when that one failed: nothing else tells that no work is done. */
export function failedSession(floor: Floor, activity: string): Session | undefined {
  let found = failures.get(floor.sessions);
  if (!found) {
    found = new Map();
    for (const one of floor.sessions.values()) {
      const other = found.get(one.activity);
      if (!other || other.created_at < one.created_at) found.set(one.activity, one);
    }
    for (const [of, last] of found)
      if (!isOver(last) || last.worker !== null || liveOf(floor, last).tone !== "failed") found.delete(of);
    failures.set(floor.sessions, found);
  }
  return found.get(activity);
}

/** The failed sessions that open activities were left with, latest first. */
export function failedSessions(floor: Floor): Session[] {
  return [...floor.activities.values()]
    .filter((activity) => activity.status === "active" || activity.status === "blocked")
    .flatMap((activity) => failedSession(floor, activity.id) ?? [])
    .sort((a, b) => (a.state.since < b.state.since ? 1 : -1));
}

/** Whether this person has started no agent yet. */
export function startsFirst(floor: Floor): boolean {
  const me = floor.me?.user?.id;
  return me !== undefined && ![...floor.sessions.values()].some((one) => one.owner.id === me);
}

/** What is checked out in a workspace when it is not its own branch. */
export function checkedOutInstead(workspace: Workspace): string | null {
  const found = workspace.stats?.checked_out;
  if (!found || !workspace.branch) return null;
  if (found.kind === "commit") return "a commit";
  return found.name === workspace.branch ? null : found.name;
}

/** What changes when a workspace's work does, as far as its statistics tell. */
export function statsKey(workspace: Workspace | undefined): string {
  return JSON.stringify(workspace?.stats ?? null) + (workspace?.updated_at ?? "");
}
