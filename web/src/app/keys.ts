import { canWrite } from "../state/projects/access";
import { needs, placeOfNeed } from "../state/needs/needs";
import { dialogs } from "../state/shell/dialogs.svelte";
import { navigation } from "../state/shell/navigation.svelte";
import { notices } from "../state/shell/notices.svelte";
import { preferences } from "../state/shell/preferences.svelte";
import { isBoard, projectOf } from "../state/shell/route";
import { selection } from "../state/tasks/selection.svelte";
import { hub } from "../state/hub/hub.svelte";
import { addTasks, editText, focusComposer, projectHere, startAgent } from "./commands";

/** Handles a key that no focused element handled. */
export function onKey(event: KeyboardEvent): void {
  if (event.defaultPrevented || event.isComposing) return;
  if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k") {
    event.preventDefault();
    return dialogs.open?.kind === "palette" ? dialogs.close() : dialogs.show({ kind: "palette" });
  }
  if (dialogs.open || event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
  if (event.key === "Escape") return leave();
  const action = preferences.singleKeys ? SINGLE[event.key] : undefined;
  if (!action) return;
  event.preventDefault();
  action();
}

const SINGLE: Record<string, () => void> = {
  j: () => step(1),
  k: () => step(-1),
  "?": () => dialogs.show({ kind: "shortcuts" }),
  c: focusComposer,
  e: editText,
  n: newActivity,
  a: startAgent,
  t: () => hub.floor.me && navigation.go({ name: "terminals", project: null }),
  w: nextWaiting,
  b: () => toWork("tasks"),
  i: () => toWork("list"),
  g: () => toWork("graph"),
  o: () => toWork("workers"),
  "+": addTasks,
  "/": () => document.querySelector<HTMLElement>("[data-find]")?.focus(),
  "!": () => hub.floor.me?.user && dialogs.show({ kind: "freeze", project: null }),
  p: () => hub.floor.me?.user && dialogs.show({ kind: "create-project" }),
  u: () => notices.accept(),
  "[": () => (preferences.floorOpen = !preferences.floorOpen),
  "]": () => (preferences.inspectorOpen = !preferences.inspectorOpen),
};

function newActivity(): void {
  const project = hub.floor.projects.get(projectOf(navigation.route) ?? "");
  if (project && canWrite(hub.floor.me, project))
    dialogs.show({ kind: "create-activity", project: project.id });
}

function nextWaiting(): void {
  const [first] = needs(hub.floor);
  if (first) navigation.go(placeOfNeed(first));
}

function toWork(place: "tasks" | "list" | "graph" | "workers"): void {
  const project = projectHere();
  if (project) navigation.go(`/p/${project}/${place}`);
}

// Back from a selection, then from the details to the page that they belong to.
function leave(): void {
  const { route } = navigation;
  if (selection.ids.size > 0) selection.clear();
  else if (isBoard(route) && route.task) navigation.go({ ...route, task: null });
  else if (route.name === "workers" && route.worker) navigation.go({ ...route, worker: null });
  else if (route.name === "executions" && route.execution) navigation.go(`/p/${route.project}/executions`);
  else if (route.name === "schedules" && route.schedule) navigation.go(`/p/${route.project}/schedules`);
  else if (route.name === "recipes" && route.recipe && !route.edit)
    navigation.go(`/p/${route.project}/recipes`);
  else if (route.name === "activity" || route.name === "project-settings") {
    navigation.go({ name: "project", project: route.project });
  }
}

function step(by: 1 | -1): void {
  const inside =
    document.activeElement?.closest("[data-rows]") ??
    document.querySelector("[data-rows=first]") ??
    document.querySelector("[data-rows]");
  const rows = [...(inside?.querySelectorAll<HTMLElement | SVGElement>("[data-row]") ?? [])].filter((row) =>
    row.checkVisibility(),
  );
  const focused = rows.findIndex((row) => row === document.activeElement);
  const from = focused >= 0 ? focused : rows.findIndex((row) => row.hasAttribute("aria-current"));
  const next =
    rows[from < 0 ? (by > 0 ? 0 : rows.length - 1) : Math.min(rows.length - 1, Math.max(0, from + by))];
  next?.focus();
  next?.scrollIntoView({ block: "nearest" });
}

function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable ||
      target.matches("input:not([type='checkbox'], [type='radio']), textarea, select"))
  );
}
