import type { Project } from "../../protocol";

/** A page with a tab. */
export type PageName =
  | "chat"
  | "tasks"
  | "list"
  | "graph"
  | "workers"
  | "merge"
  | "recipes"
  | "executions"
  | "schedules"
  | "artifacts"
  | "decisions"
  | "metrics";

/** A page of a project. */
export type ProjectPage = {
  name: PageName;
  word: string;
  /** Its name where the tabs are not beside it, if it is another one. */
  title?: string;
  /** The routes that show it. */
  routes: readonly string[];
  /** The end of its URL; empty for the chat. */
  end: string;
};

/** The pages of a project, in the order of its tabs. */
export const PROJECT_PAGES: readonly ProjectPage[] = [
  { name: "chat", word: "Chat", routes: ["project", "activity"], end: "" },
  page("tasks", "Board", "escalations"),
  { ...page("list", "List"), title: "Task list" },
  { ...page("graph", "Graph"), title: "Task graph" },
  page("workers", "Workers", "work"),
  page("merge", "Merge queue"),
  page("recipes", "Recipes"),
  page("executions", "Executions"),
  page("schedules", "Schedules"),
  page("artifacts", "Artifacts"),
  page("decisions", "Decisions"),
  page("metrics", "Metrics"),
];

function page(name: PageName, word: string, ...also: string[]): ProjectPage {
  return { name, word, routes: [name, ...also], end: `/${name}` };
}

/** The URL of a page. */
export function pagePath(project: string, { end }: ProjectPage): string {
  return `/p/${project}${end}`;
}

/** The pages of a project as lines of the palette. */
export function pageLines({ id }: Pick<Project, "id">) {
  return PROJECT_PAGES.map((one) => ({
    id: `${one.name} of ${id}`,
    name: one.name,
    title: one.title ?? one.word,
    path: pagePath(id, one),
  }));
}
