import type { Activity, Approval, Escalation, Execution, MergeQueue, Project, Session } from "../../protocol";
import { keyboardRequests } from "../execution/keyboard";
import { waitingFor } from "../execution/sessions";
import type { Floor } from "../hub/floor";
import { needsPerson } from "../merge/merge";
import { byUrgency } from "../projects/tree";
import { askingExecutions } from "../recipes/executions";
import { executionPath, pathOf } from "../shell/route";
import { escalationsFor } from "../workers/workers";
import { openApprovals } from "./approvals";

/** Something that needs this person. */
export type Need =
  | { kind: "approval"; project: Project; approval: Approval }
  | { kind: "escalation"; project: Project; escalation: Escalation }
  | { kind: "merge"; project: Project; queue: MergeQueue }
  | { kind: "execution"; project: Project; execution: Execution }
  | { kind: "waiting"; project: Project; session: Session }
  | { kind: "keyboard"; project: Project; session: Session }
  | { kind: "mention"; project: Project; count: number }
  | { kind: "blocked"; project: Project; activity: Activity };

/**
 * Everything that needs this person: approvals, escalations, executions, merge queues that a person holds up, waiting
 * sessions, requests for keyboards, mentions, and own blocked activities.
 * The box on the floor, the number in the top bar, the tab's title and the page "Needs you" all show this list.
 */
export function needs(floor: Floor): Need[] {
  const me = floor.me?.user?.id;
  if (!me) return [];
  const found: Need[] = [];
  for (const approval of openApprovals(floor)) {
    const project = floor.projects.get(approval.project);
    if (project) found.push({ kind: "approval", project, approval });
  }
  for (const escalation of escalationsFor(floor)) {
    const project = floor.projects.get(escalation.project);
    if (project) found.push({ kind: "escalation", project, escalation });
  }
  for (const queue of [...floor.merges.values()].flat()) {
    const project = floor.projects.get(queue.project);
    if (project && needsPerson(queue, project, me)) found.push({ kind: "merge", project, queue });
  }
  for (const { execution, project } of askingExecutions(floor))
    found.push({ kind: "execution", project, execution });
  for (const session of waitingFor(floor)) {
    const project = floor.projects.get(session.project);
    if (project) found.push({ kind: "waiting", project, session });
  }
  for (const session of keyboardRequests(floor.sessions.values(), me)) {
    const project = floor.projects.get(session.project);
    if (project) found.push({ kind: "keyboard", project, session });
  }
  for (const unread of floor.unread.values()) {
    const project = floor.projects.get(unread.project);
    if (project && unread.mentions > 0) found.push({ kind: "mention", project, count: unread.mentions });
  }
  for (const activity of [...floor.activities.values()].sort(byUrgency)) {
    const project = floor.projects.get(activity.project);
    if (!project || activity.status !== "blocked") continue;
    if (activity.owner.id === me || project.owner.id === me)
      found.push({ kind: "blocked", project, activity });
  }
  return found;
}

/** The page that answers a need. */
export function placeOfNeed(need: Need): string {
  if (need.kind === "approval") return pathOf({ name: "approval", approval: need.approval.id });
  if (need.kind === "escalation") return pathOf({ name: "escalation", escalation: need.escalation.id });
  if (need.kind === "merge") return pathOf({ name: "merge", project: need.project.id });
  if (need.kind === "execution") return executionPath(need.execution);
  if (need.kind === "waiting" || need.kind === "keyboard")
    return pathOf({ name: "session", session: need.session.id });
  return need.kind === "mention"
    ? pathOf({ name: "project", project: need.project.id })
    : pathOf({ name: "activity", project: need.project.id, activity: need.activity.id });
}

/** Identifies a need in a list. */
export function keyOfNeed(need: Need): string {
  if (need.kind === "approval") return need.approval.id;
  if (need.kind === "escalation") return need.escalation.id;
  if (need.kind === "merge") return `${need.project.id} ${need.queue.target}`;
  if (need.kind === "execution") return need.execution.id;
  if (need.kind === "waiting") return need.session.id;
  if (need.kind === "keyboard") return `${need.session.id} keyboard`;
  return need.kind === "mention" ? need.project.id : need.activity.id;
}

/** The number of needs as words, such as `2 need you`; empty without any. */
export function needWords(count: number): string {
  return count === 0 ? "" : `${count} ${count === 1 ? "needs" : "need"} you`;
}
