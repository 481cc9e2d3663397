import { idOf } from "../execution/threads";
import { queued } from "../merge/merge";
import { overlapped } from "../overlaps/overlaps";
import type { Change } from "../../protocol";
import type { Things } from "./floor";
import { dropWhere, put, putAll, unreachable, without } from "../../lib/maps";

/** The objects after a change; `apply` handles messages, tasks, decisions, recipes and unshared execution. */
export function change<T extends Things>(things: T, what: Change): T {
  switch (what.kind) {
    case "user":
      return { ...things, users: put(things.users, what.user.id, what.user) };
    case "user_gone":
      return { ...things, users: without(things.users, what.user) };
    case "project":
      return { ...things, projects: put(things.projects, what.project.id, what.project) };
    case "project_gone":
      return {
        ...things,
        projects: without(things.projects, what.project),
        activities: dropWhere(things.activities, (activity) => activity.project === what.project),
        workspaces: dropWhere(things.workspaces, (workspace) => workspace.project === what.project),
        sessions: dropWhere(things.sessions, (session) => session.project === what.project),
        overlaps: dropWhere(things.overlaps, (one) => one.project === what.project),
        reservations: dropWhere(things.reservations, (one) => one.project === what.project),
        unread: without(things.unread, what.project),
        workers: dropWhere(things.workers, (worker) => worker.project === what.project),
        escalations: dropWhere(things.escalations, (one) => one.project === what.project),
        approvals: dropWhere(things.approvals, (one) => one.project === what.project),
        work: without(things.work, what.project),
        handoffs: dropWhere(things.handoffs, (one) => one.project === what.project),
        landings: dropWhere(things.landings, (one) => one.project === what.project),
        landing: without(things.landing, what.project),
        merges: without(things.merges, what.project),
        executions: dropWhere(things.executions, (one) => one.project === what.project),
        schedules: dropWhere(things.schedules, (one) => one.project === what.project),
      };
    case "activity":
      return { ...things, activities: put(things.activities, what.activity.id, what.activity) };
    case "unread":
      return { ...things, unread: put(things.unread, what.unread.project, what.unread) };
    case "runner":
      return { ...things, runners: put(things.runners, what.runner.id, what.runner) };
    case "runner_gone":
      return {
        ...things,
        runners: without(things.runners, what.runner),
        approvals: dropWhere(things.approvals, (one) => one.runner === what.runner),
      };
    case "workspace":
      return { ...things, workspaces: put(things.workspaces, what.workspace.id, what.workspace) };
    case "session":
      return { ...things, sessions: put(things.sessions, what.session.id, what.session) };
    case "overlap":
      return { ...things, overlaps: overlapped(things.overlaps, what.overlap) };
    case "reservation":
      return { ...things, reservations: overlapped(things.reservations, what.reservation) };
    case "workers":
      return { ...things, workers: putAll(things.workers, what.workers) };
    case "worker_gone":
      return { ...things, workers: without(things.workers, what.worker) };
    case "escalation":
      return { ...things, escalations: put(things.escalations, what.escalation.id, what.escalation) };
    case "approval":
      return { ...things, approvals: put(things.approvals, what.approval.id, what.approval) };
    case "review":
      return { ...things, reviews: put(things.reviews, idOf(what.review.of), what.review) };
    case "work_settings":
      return { ...things, work: put(things.work, what.project, what.settings) };
    case "handoff":
      return { ...things, handoffs: put(things.handoffs, what.handoff.id, what.handoff) };
    case "landing":
      return { ...things, landings: put(things.landings, what.landing.id, what.landing) };
    case "landing_settings":
      return { ...things, landing: put(things.landing, what.project, what.settings) };
    case "merge_queue":
      return { ...things, merges: queued(things.merges, what.queue) };
    case "execution":
      return { ...things, executions: put(things.executions, what.execution.id, what.execution) };
    case "schedule":
      return { ...things, schedules: put(things.schedules, what.schedule.id, what.schedule) };
    case "schedule_removed":
      return { ...things, schedules: without(things.schedules, what.schedule) };
    case "execution_gone":
    case "message":
    case "tasks":
    case "work_entry":
    case "candidate":
    case "merge_settings":
    case "recipe":
    case "profiles":
      return things;
    default:
      return unreachable(what, things);
  }
}

/** The objects after many changes; copies each map once, so that a sync takes linear time. */
export function changeAll(things: Things, changes: readonly Change[]): Things {
  const users = new Map(things.users);
  const projects = new Map(things.projects);
  const activities = new Map(things.activities);
  const runners = new Map(things.runners);
  const workspaces = new Map(things.workspaces);
  const sessions = new Map(things.sessions);
  const overlaps = new Map(things.overlaps);
  const reservations = new Map(things.reservations);
  const unread = new Map(things.unread);
  const workers = new Map(things.workers);
  const escalations = new Map(things.escalations);
  const approvals = new Map(things.approvals);
  const reviews = new Map(things.reviews);
  const work = new Map(things.work);
  const handoffs = new Map(things.handoffs);
  const landings = new Map(things.landings);
  const landing = new Map(things.landing);
  let { merges } = things;
  const executions = new Map(things.executions);
  const schedules = new Map(things.schedules);
  for (const what of changes) {
    if (what.kind === "user") users.set(what.user.id, what.user);
    else if (what.kind === "project") projects.set(what.project.id, what.project);
    else if (what.kind === "activity") activities.set(what.activity.id, what.activity);
    else if (what.kind === "runner") runners.set(what.runner.id, what.runner);
    else if (what.kind === "workspace") workspaces.set(what.workspace.id, what.workspace);
    else if (what.kind === "session") sessions.set(what.session.id, what.session);
    else if (what.kind === "overlap") overlaps.set(what.overlap.id, what.overlap);
    else if (what.kind === "reservation") reservations.set(what.reservation.id, what.reservation);
    else if (what.kind === "unread") unread.set(what.unread.project, what.unread);
    else if (what.kind === "workers") for (const worker of what.workers) workers.set(worker.id, worker);
    else if (what.kind === "escalation") escalations.set(what.escalation.id, what.escalation);
    else if (what.kind === "approval") approvals.set(what.approval.id, what.approval);
    else if (what.kind === "review") reviews.set(idOf(what.review.of), what.review);
    else if (what.kind === "work_settings") work.set(what.project, what.settings);
    else if (what.kind === "handoff") handoffs.set(what.handoff.id, what.handoff);
    else if (what.kind === "landing") landings.set(what.landing.id, what.landing);
    else if (what.kind === "landing_settings") landing.set(what.project, what.settings);
    else if (what.kind === "merge_queue") merges = queued(merges, what.queue);
    else if (what.kind === "execution") executions.set(what.execution.id, what.execution);
    else if (what.kind === "schedule") schedules.set(what.schedule.id, what.schedule);
  }
  return {
    users,
    projects,
    activities,
    runners,
    workspaces,
    sessions,
    overlaps,
    reservations,
    unread,
    workers,
    escalations,
    approvals,
    reviews,
    work,
    handoffs,
    landings,
    landing,
    merges,
    executions,
    schedules,
  };
}
