import type { Place } from "../protocol";
import { needs, needWords } from "../state/needs/needs";
import type { Floor } from "../state/hub/floor";
import { taskLine } from "../state/tasks/board";
import { isPlan, isWork, type Route, sessionOf } from "../state/shell/route";
import { unreadTotal } from "../state/projects/tree";

/** The place to report as this person's presence. */
export function placeOf(floor: Floor, route: Route): Place | null {
  const session = floor.sessions.get(sessionOf(route) ?? "");
  if (session) return { project: session.project, activity: session.activity };
  if ((route.name === "terminals" || route.name === "recordings") && route.project)
    return { project: route.project, activity: null };
  if (isPlan(route)) return { project: route.project, activity: null };
  if (isWork(route))
    return { project: route.project, activity: taskLine(floor, taskOf(route))?.activity ?? null };
  const line = route.name === "task" ? taskLine(floor, route.task) : undefined;
  if (line) return { project: line.project, activity: line.activity };
  if (route.name === "project") return { project: route.project, activity: null };
  if (route.name === "activity") return { project: route.project, activity: route.activity };
  return null;
}

/** The tab's title: the number of needs or unread messages, then the page. */
export function titleFor(floor: Floor, route: Route): string {
  const needed = needWords(needs(floor).length);
  if (needed) return `(${needed}) ${nameOfPlace(floor, route)}`;
  const { count } = unreadTotal(floor);
  return `${count > 0 ? `(${count}) ` : ""}${nameOfPlace(floor, route)}`;
}

function nameOfPlace(floor: Floor, route: Route): string {
  const project = "project" in route && route.project ? floor.projects.get(route.project) : undefined;
  const session = floor.sessions.get(sessionOf(route) ?? "");
  if (session) return `${session.title} · Shopfloor`;
  const task = taskLine(floor, taskOf(route));
  if (task) return `${task.title} · Shopfloor`;
  if (route.name === "needs" || route.name === "escalation" || route.name === "approval")
    return "Needs you · Shopfloor";
  if (route.name === "terminals" && !project) return "Terminals · Shopfloor";
  const activity = route.name === "activity" ? floor.activities.get(route.activity) : undefined;
  if (activity) return `${activity.name} · Shopfloor`;
  if (project && (isWork(route) || isPlan(route))) return `${WORD[route.name]} · ${project.name} · Shopfloor`;
  if (project) return `${project.name} · Shopfloor`;
  return "Shopfloor";
}

const WORD = {
  tasks: "Board",
  list: "List",
  graph: "Graph",
  workers: "Workers",
  decisions: "Decisions",
  metrics: "Metrics",
  escalations: "Needs you",
  work: "Task settings",
  merge: "Merge queue",
  recipes: "Recipes",
  executions: "Executions",
  schedules: "Schedules",
  artifacts: "Artifacts",
} as const;

function taskOf(route: Route): string | null {
  return "task" in route ? route.task : null;
}
