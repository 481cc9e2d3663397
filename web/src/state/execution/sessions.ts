import type { Runner, Session, Workspace } from "../../protocol";
import { approvalDetail, waitsForApproval } from "../needs/approvals";
import type { Floor } from "../hub/floor";

/** The look of a session's state. */
export type Live = {
  tone: "starting" | "active" | "waiting" | "idle" | "completed" | "failed" | "offline";
  word: string;
  /** What it waits for, how it ended or why it failed. */
  detail: string | null;
  since: string;
};

/** Whether a session has ended. */
export function isOver(session: Session): boolean {
  return session.state.status === "exited" || session.state.status === "lost";
}

/** Whether a session never started, so that it has no screen and no recording. */
export function neverStarted({ state, recording }: Session): boolean {
  const unknown = state.status === "exited" && state.code === null && state.signal === null;
  return unknown && state.detail !== null && recording.output_bytes === 0 && recording.disk_bytes === 0;
}

/** The runner of a session, if it is offline. */
export function absentRunner(floor: Floor, session: Session): Runner | null {
  const runner = floor.runners.get(session.runner);
  return runner && !runner.connected ? runner : null;
}

/** The offline runner of a running session, whose current state is unknown. */
export function unreachableRunner(floor: Floor, session: Session): Runner | null {
  return isOver(session) ? null : absentRunner(floor, session);
}

/** The last known state of a session. */
export function liveOf(floor: Floor, session: Session): Live {
  const { status, detail, since } = session.state;
  const lost = unreachableRunner(floor, session);
  if (lost) {
    const word = `Last seen ${WORD[status].toLowerCase()}`;
    return { tone: "offline", word, detail: "The runner is offline", since: lost.last_seen_at ?? since };
  }
  if (session.stopping && !isOver(session)) return { tone: "idle", word: "Stopping", detail: null, since };
  if (status === "exited") return exited(session);
  if (status === "waiting") {
    const word = session.owner.id === floor.me?.user?.id ? "Waiting for you" : WORD.waiting;
    return { tone: "waiting", word, detail: approvalDetail(floor, session) ?? detail, since };
  }
  return { tone: TONE[status], word: WORD[status], detail, since };
}

/** A shorter word for narrow places. */
export function shortWord({ word }: Live): string {
  return word.startsWith("Last seen") ? "Offline" : word.replace(/ \(.*/, "");
}

const WORD: Record<Session["state"]["status"], string> = {
  starting: "Starting",
  working: "Working",
  waiting: "Waiting",
  idle: "Idle",
  exited: "Finished",
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

/** How a session ended. */
function exited(session: Session): Live {
  const { code, signal, since, detail } = session.state;
  const shown = (tone: Live["tone"], word: string): Live => ({ tone, word, detail, since });
  if (session.stopping) return shown("completed", "Stopped");
  if (signal !== null) return shown("failed", `Failed (signal ${signal})`);
  if (neverStarted(session)) return shown("failed", "Did not start");
  // The runner no longer knows how it ended.
  if (code === null) return shown(detail === null ? "completed" : "offline", "Ended");
  return code === 0 ? shown("completed", WORD.exited) : shown("failed", `Failed (exit ${code})`);
}

/** This person's sessions that wait for input, oldest first, without those that wait for an approval or are offline. */
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

/** Identifies one wait of a session. */
export function waitKey(session: Session): string {
  return `${session.id} ${session.state.since}`;
}

/** The waiting sessions without a notification for the current wait. */
export function newWaits(told: ReadonlySet<string>, waiting: readonly Session[]): Session[] {
  return waiting.filter((session) => !told.has(waitKey(session)));
}

/** The waits that need no further notification; a runner that reconnects does not renew an old wait. */
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

/** Orders sessions: waiting, running, finished; newest first. */
export function bySessionUrgency(a: Session, b: Session): number {
  return (
    URGENCY[a.state.status] - URGENCY[b.state.status] ||
    (a.created_at < b.created_at ? 1 : a.created_at > b.created_at ? -1 : 0)
  );
}

/** The sessions of an activity or a project, by urgency. */
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

/** The most urgent running session of an activity. */
export function liveSession(floor: Floor, activity: string): Session | undefined {
  let found = standing.get(floor.sessions);
  if (!found) {
    // Cached per state, because hundreds of rows ask for it.
    found = new Map();
    for (const one of [...floor.sessions.values()].sort(bySessionUrgency)) {
      if (!isOver(one) && !found.has(one.activity)) found.set(one.activity, one);
    }
    standing.set(floor.sessions, found);
  }
  return found.get(activity);
}

const failures = new WeakMap<Floor["sessions"], Map<string, Session>>();

/** The last session that a person started for an activity, if it failed. */
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

/** The failed last sessions of open activities, newest first. */
export function failedSessions(floor: Floor): Session[] {
  return [...floor.activities.values()]
    .filter((activity) => activity.status === "active" || activity.status === "blocked")
    .flatMap((activity) => failedSession(floor, activity.id) ?? [])
    .sort((a, b) => (a.state.since < b.state.since ? 1 : -1));
}

/** Whether this person has not started an agent yet. */
export function startsFirst(floor: Floor): boolean {
  const me = floor.me?.user?.id;
  return me !== undefined && ![...floor.sessions.values()].some((one) => one.owner.id === me);
}

/** What is checked out in a workspace instead of its own branch. */
export function checkedOutInstead(workspace: Workspace): string | null {
  const found = workspace.stats?.checked_out;
  if (!found || !workspace.branch) return null;
  if (found.kind === "commit") return "a commit";
  return found.name === workspace.branch ? null : found.name;
}

/** A key that changes with the statistics of a workspace. */
export function statsKey(workspace: Workspace | undefined): string {
  return JSON.stringify(workspace?.stats ?? null) + (workspace?.updated_at ?? "");
}
