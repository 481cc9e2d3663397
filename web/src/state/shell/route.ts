import type { TaskQuery } from "../tasks/board";

/** A page, as named by its URL. */
export type Route =
  | { name: "home" }
  | { name: "project"; project: string }
  | { name: "activity"; project: string; activity: string }
  | { name: "project-settings"; project: string }
  | { name: "tasks" | "graph"; project: string; task: string | null; query: TaskQuery }
  | { name: "workers"; project: string; worker: string | null }
  | { name: "decisions" | "metrics" | "escalations" | "work" | "merge"; project: string }
  | { name: "task"; task: string }
  | { name: "escalation"; escalation: string }
  | { name: "approval"; approval: string }
  | { name: "needs" }
  | { name: "terminals"; project: string | null }
  | { name: "session"; session: string }
  | { name: "recordings"; project: string | null }
  | { name: "recording"; session: string; at: number }
  | { name: "people" }
  | { name: "runners" }
  | { name: "audit"; project: string | null }
  | { name: "settings" }
  | { name: "login" }
  | { name: "join" }
  | { name: "observe" }
  | { name: "lost" };

const PLAIN = ["needs", "people", "runners", "settings", "login", "join", "observe"] as const;

/** The empty filter. */
export const ALL_TASKS: TaskQuery = { text: "", worker: null, activity: null };

/** Parses a URL. */
export function parseRoute(pathname: string, search = ""): Route {
  const parts = pathname.split("/").filter(Boolean);
  const [first, second, third, fourth] = parts;
  if (!first) return { name: "home" };
  if (first === "p" && second) {
    if (parts.length === 2) return { name: "project", project: second };
    if (third === "settings" && parts.length === 3) return { name: "project-settings", project: second };
    if (third === "terminals" && parts.length === 3) return { name: "terminals", project: second };
    if (third === "recordings" && parts.length === 3) return { name: "recordings", project: second };
    if (third === "a" && fourth && parts.length === 4)
      return { name: "activity", project: second, activity: fourth };
    return ofWork(parts, search);
  }
  if (first === "t" && second && parts.length === 2) return { name: "task", task: second };
  if (first === "e" && second && parts.length === 2) return { name: "escalation", escalation: second };
  if (first === "approvals" && second && parts.length === 2) return { name: "approval", approval: second };
  if (first === "s" && second) {
    if (parts.length === 2) return { name: "session", session: second };
    if (third === "recording" && parts.length === 3)
      return { name: "recording", session: second, at: moment(new URLSearchParams(search).get("t")) };
    return { name: "lost" };
  }
  if (parts.length > 1) return { name: "lost" };
  if (first === "audit") return { name: "audit", project: new URLSearchParams(search).get("project") };
  if (first === "terminals" || first === "recordings") return { name: first, project: null };
  const plain = PLAIN.find((name) => name === first);
  return plain ? { name: plain } : { name: "lost" };
}

function ofWork([, project = "", third, fourth, fifth]: readonly string[], search: string): Route {
  if (fifth !== undefined) return { name: "lost" };
  if (third === "tasks" || third === "graph") {
    const words = new URLSearchParams(search);
    const query = {
      text: words.get("q") ?? "",
      worker: words.get("worker"),
      activity: words.get("activity"),
    };
    return { name: third, project, task: fourth ?? null, query };
  }
  if (third === "workers") return { name: third, project, worker: fourth ?? null };
  if (fourth !== undefined) return { name: "lost" };
  const rooms = ["decisions", "metrics", "escalations", "work", "merge"] as const;
  const room = rooms.find((name) => name === third);
  if (room) return { name: room, project };
  return { name: "lost" };
}

function searchOf(query: TaskQuery): string {
  const words = new URLSearchParams();
  if (query.text) words.set("q", query.text);
  if (query.worker) words.set("worker", query.worker);
  if (query.activity) words.set("activity", query.activity);
  return words.size > 0 ? `?${words}` : "";
}

/** The URL of a route. */
export function pathOf(route: Route): string {
  switch (route.name) {
    case "home":
    case "lost":
      return "/";
    case "project":
      return `/p/${route.project}`;
    case "activity":
      return `/p/${route.project}/a/${route.activity}`;
    case "project-settings":
      return `/p/${route.project}/settings`;
    case "terminals":
    case "recordings":
      return route.project ? `/p/${route.project}/${route.name}` : `/${route.name}`;
    case "tasks":
    case "graph":
      return `/p/${route.project}/${route.name}${route.task ? `/${route.task}` : ""}${searchOf(route.query)}`;
    case "workers":
      return `/p/${route.project}/workers${route.worker ? `/${route.worker}` : ""}`;
    case "decisions":
    case "metrics":
    case "escalations":
    case "work":
    case "merge":
      return `/p/${route.project}/${route.name}`;
    case "task":
      return `/t/${route.task}`;
    case "escalation":
      return `/e/${route.escalation}`;
    case "approval":
      return `/approvals/${route.approval}`;
    case "session":
      return `/s/${route.session}`;
    case "recording":
      return `/s/${route.session}/recording${route.at > 0 ? `?t=${route.at}` : ""}`;
    case "audit":
      return route.project ? `/audit?project=${route.project}` : "/audit";
    default:
      return `/${route.name}`;
  }
}

/** A route about a project's tasks or workers. */
export type WorkRoute = Extract<
  Route,
  { name: "tasks" | "graph" | "workers" | "decisions" | "metrics" | "escalations" | "work" | "merge" }
>;

/** Whether a route is about a project's tasks or workers. */
export function isWork(route: Route): route is WorkRoute {
  return ["tasks", "graph", "workers", "decisions", "metrics", "escalations", "work", "merge"].includes(
    route.name,
  );
}

/** The project of a route. */
export function projectOf(route: Route): string | null {
  return "project" in route && route.name !== "audit" ? route.project : null;
}

/** The URL of a task on its board. */
export function taskPath(task: { project: string; id: string }): string {
  return `/p/${task.project}/tasks/${task.id}`;
}

/** The session of a route. */
export function sessionOf(route: Route): string | null {
  return route.name === "session" || route.name === "recording" ? route.session : null;
}

function moment(text: string | null): number {
  const value = Number(text ?? 0);
  return Number.isFinite(value) && value > 0 ? Math.floor(value) : 0;
}
