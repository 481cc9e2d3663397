import type { Project } from "../../protocol";
import type { IconName } from "../../ui/icons";

/** A page of a project. */
export type ProjectPage = {
  name: string;
  word: string;
  /** Its name where the tabs are not beside it, if it is another one. */
  title?: string;
  icon: IconName;
  /** The routes that show it. */
  routes: readonly string[];
  /** The end of its URL; empty for the chat. */
  end: string;
};

/** The pages of a project, in the order of its tabs. */
export const PROJECT_PAGES: readonly ProjectPage[] = [
  { name: "chat", word: "Chat", icon: "chat", routes: ["project", "activity"], end: "" },
  page("tasks", "Board", "board", "escalations"),
  { ...page("list", "List", "audit"), title: "Task list" },
  { ...page("graph", "Graph", "graph"), title: "Task graph" },
  page("workers", "Workers", "workers", "work"),
  page("merge", "Merge queue", "branch"),
  page("recipes", "Recipes", "audit"),
  page("executions", "Executions", "graph"),
  page("schedules", "Schedules", "history"),
  page("artifacts", "Artifacts", "folder"),
  page("decisions", "Decisions", "audit"),
  page("metrics", "Metrics", "plot"),
];

function page(name: string, word: string, icon: IconName, ...also: string[]): ProjectPage {
  return { name, word, icon, routes: [name, ...also], end: `/${name}` };
}

/** The URL of a page. */
export function pagePath(project: string, { end }: ProjectPage): string {
  return `/p/${project}${end}`;
}

/** The pages of a project as lines of the palette. */
export function pageLines({ id }: Pick<Project, "id">) {
  return PROJECT_PAGES.map((one) => ({
    id: `${one.name} of ${id}`,
    icon: one.icon,
    title: one.title ?? one.word,
    path: pagePath(id, one),
  }));
}
