import { COLUMNS, type TaskQuery } from "../tasks/board";

/** A page, as named by its URL. */
export type Route =
  | { name: "home" }
  /** `message` is the number of the message to show in the chat. */
  | { name: "project"; project: string; message?: number | undefined }
  | { name: "activity"; project: string; activity: string }
  | { name: "project-settings"; project: string }
  | { name: "tasks" | "list" | "graph"; project: string; task: string | null; query: TaskQuery }
  | { name: "workers"; project: string; worker: string | null }
  | { name: "decisions" | "metrics" | "escalations" | "work" | "merge"; project: string }
  /** `recipe` is `new` for one that is not saved yet. */
  | { name: "recipes"; project: string; recipe: string | null; edit: boolean; template: string | null }
  | { name: "executions"; project: string; execution: string | null; step: string | null }
  | { name: "schedules"; project: string; schedule: string | null }
  | { name: "artifacts"; project: string }
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

const STATUSES = ["open", ...COLUMNS.flatMap((column) => column.statuses)] as const;

/** The empty filter. */
export const ALL_TASKS: TaskQuery = { text: "", worker: null, activity: null };

/** Parses a URL. */
export function parseRoute(pathname: string, search = ""): Route {
  const parts = pathname.split("/").filter(Boolean);
  const [first, second, third, fourth] = parts;
  if (!first) return { name: "home" };
  if (first === "p" && second) {
    if (parts.length === 2) {
      const message = moment(new URLSearchParams(search).get("m"));
      return { name: "project", project: second, ...(message > 0 && { message }) };
    }
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
  if (third === "tasks" || third === "list" || third === "graph") {
    return { name: third, project, task: fourth ?? null, query: parseQuery(search) };
  }
  if (third === "recipes") {
    const words = new URLSearchParams(search);
    const template = words.get("template");
    return {
      name: third,
      project,
      recipe: fourth ?? null,
      edit: fourth === "new" || words.has("edit"),
      template,
    };
  }
  if (third === "executions") {
    const step = new URLSearchParams(search).get("step");
    return { name: third, project, execution: fourth ?? null, step };
  }
  if (third === "schedules") return { name: third, project, schedule: fourth ?? null };
  if (third === "workers") return { name: third, project, worker: fourth ?? null };
  if (fourth !== undefined) return { name: "lost" };
  const rooms = ["decisions", "metrics", "escalations", "work", "merge", "artifacts"] as const;
  const room = rooms.find((name) => name === third);
  if (room) return { name: room, project };
  return { name: "lost" };
}

/** A filter in the search of a URL. */
export function parseQuery(search: string): TaskQuery {
  const words = new URLSearchParams(search);
  const status = STATUSES.find((one) => one === words.get("status"));
  const [label, need, sort] = ["label", "need", "sort"].map((name) => words.get(name));
  return {
    text: words.get("q") ?? "",
    worker: words.get("worker"),
    activity: words.get("activity"),
    ...(status ? { status } : {}),
    ...(label ? { label } : {}),
    ...(need ? { need } : {}),
    ...(sort ? { sort } : {}),
  };
}

/** The search of a URL with a filter; empty without any. */
export function searchOf(query: TaskQuery): string {
  const words = new URLSearchParams();
  if (query.text) words.set("q", query.text);
  if (query.worker) words.set("worker", query.worker);
  if (query.activity) words.set("activity", query.activity);
  if (query.status) words.set("status", query.status);
  if (query.label) words.set("label", query.label);
  if (query.need) words.set("need", query.need);
  if (query.sort) words.set("sort", query.sort);
  return words.size > 0 ? `?${words}` : "";
}

function searchOfRecipe({ recipe, edit, template }: RecipesRoute): string {
  if (template) return `?template=${encodeURIComponent(template)}`;
  return edit && recipe !== "new" ? "?edit" : "";
}

/** The URL of a route. */
export function pathOf(route: Route): string {
  switch (route.name) {
    case "home":
    case "lost":
      return "/";
    case "project":
      return `/p/${route.project}${route.message ? `?m=${route.message}` : ""}`;
    case "activity":
      return `/p/${route.project}/a/${route.activity}`;
    case "project-settings":
      return `/p/${route.project}/settings`;
    case "terminals":
    case "recordings":
      return route.project ? `/p/${route.project}/${route.name}` : `/${route.name}`;
    case "tasks":
    case "list":
    case "graph":
      return `/p/${route.project}/${route.name}${route.task ? `/${route.task}` : ""}${searchOf(route.query)}`;
    case "recipes":
      return `/p/${route.project}/recipes${route.recipe ? `/${route.recipe}` : ""}${searchOfRecipe(route)}`;
    case "executions": {
      const step = route.step ? `?step=${encodeURIComponent(route.step)}` : "";
      return `/p/${route.project}/executions${route.execution ? `/${route.execution}${step}` : ""}`;
    }
    case "schedules":
      return `/p/${route.project}/schedules${route.schedule ? `/${route.schedule}` : ""}`;
    case "workers":
      return `/p/${route.project}/workers${route.worker ? `/${route.worker}` : ""}`;
    case "decisions":
    case "metrics":
    case "escalations":
    case "work":
    case "merge":
    case "artifacts":
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

/** A route that shows a project's tasks: as a board, a list or a graph. */
export type BoardRoute = Extract<Route, { name: "tasks" | "list" | "graph" }>;

/** Whether a route shows a project's tasks. */
export function isBoard(route: Route): route is BoardRoute {
  return route.name === "tasks" || route.name === "list" || route.name === "graph";
}

/** A route that shows a project's recipes. */
export type RecipesRoute = Extract<Route, { name: "recipes" }>;

/** A route about recipes, what runs of them, and what starts them. */
export type PlanRoute = Extract<Route, { name: "recipes" | "executions" | "schedules" | "artifacts" }>;

/** Whether a route is about recipes, executions, schedules or artifacts. */
export function isPlan(route: Route): route is PlanRoute {
  return ["recipes", "executions", "schedules", "artifacts"].includes(route.name);
}

/** The URL of an execution. */
export function executionPath(one: { project: string; id: string }, step: string | null = null): string {
  return pathOf({ name: "executions", project: one.project, execution: one.id, step });
}

/** The URL of a recipe. */
export function recipePath(project: string, recipe: string | null, edit = false): string {
  return pathOf({ name: "recipes", project, recipe, edit, template: null });
}

/** A route about a project's tasks or workers. */
export type WorkRoute = Extract<
  Route,
  {
    name: "tasks" | "list" | "graph" | "workers" | "decisions" | "metrics" | "escalations" | "work" | "merge";
  }
>;

/** Whether a route is about a project's tasks or workers. */
export function isWork(route: Route): route is WorkRoute {
  return [
    "tasks",
    "list",
    "graph",
    "workers",
    "decisions",
    "metrics",
    "escalations",
    "work",
    "merge",
  ].includes(route.name);
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
