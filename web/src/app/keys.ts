import { canWrite } from "../state/projects/access";
import { openApprovals } from "../state/needs/approvals";
import { dialogs } from "../state/shell/dialogs.svelte";
import { navigation } from "../state/shell/navigation.svelte";
import { preferences } from "../state/shell/preferences.svelte";
import { projectOf } from "../state/shell/route";
import { hub } from "../state/hub/hub.svelte";
import { waitingFor } from "../state/execution/sessions";
import { escalationsFor } from "../state/workers/workers";
import { addTasks, editText, focusComposer, projectHere, startAgent } from "./commands";

/** The shortcuts, as the list under `?` shows them. */
export const SHORTCUTS: readonly { keys: string[]; does: string }[] = [
  { keys: ["Ctrl", "K"], does: "Find a place or verb" },
  { keys: ["?"], does: "This list" },
  { keys: ["j", "k"], does: "Next and previous row" },
  { keys: ["Enter"], does: "Open the row, send the message" },
  { keys: ["Esc"], does: "Close, or leave the text field" },
  { keys: ["c"], does: "Write a message" },
  { keys: ["n"], does: "New activity in this project" },
  { keys: ["p"], does: "New project" },
  { keys: ["e"], does: "Edit the text in the details" },
  { keys: ["a"], does: "Start an agent" },
  { keys: ["t"], does: "Terminals" },
  { keys: ["w"], does: "What has waited longest for you" },
  { keys: ["b"], does: "Board of this project" },
  { keys: ["g"], does: "Graph of its tasks" },
  { keys: ["o"], does: "Its workers" },
  { keys: ["+"], does: "Add tasks; in the graph: larger" },
  { keys: ["/"], does: "Find tasks on the board" },
  { keys: ["← →"], does: "On the board: column; in the graph: along the arrows" },
  { keys: ["!"], does: "Stop everything, after a question" },
  { keys: ["Ctrl", "1…9"], does: "Terminal by its place among the tabs" },
  { keys: ["Ctrl", "Shift", "PgDn"], does: "Next terminal; PgUp: previous" },
  { keys: ["Ctrl", "Shift", "G"], does: "One terminal or four" },
  { keys: ["Ctrl", "Shift", "D"], does: "Diff beside the terminal" },
  { keys: ["Ctrl", "Shift", "F"], does: "Find in the terminal" },
  { keys: ["Ctrl", "Shift", "C"], does: "Copy what is selected in the terminal" },
  { keys: ["Ctrl", "Shift", "K"], does: "In a terminal: find a place or verb" },
  { keys: ["Ctrl", "Shift", "L"], does: "Leave the terminal for its tab" },
  { keys: ["Space", "← →"], does: "In a recording: play or pause, 5 s back or on" },
  { keys: [",", "."], does: "In a recording: marker before or after" },
  { keys: ["["], does: "Show or hide the floor" },
  { keys: ["]"], does: "Show or hide the details" },
  { keys: ["Ctrl", "Enter"], does: "Save the text" },
  { keys: ["↑"], does: "In an empty composer: edit your last message" },
];

/** Handles a key that nothing nearer wanted. */
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
  g: () => toWork("graph"),
  o: () => toWork("workers"),
  "+": addTasks,
  "/": () => document.querySelector<HTMLElement>("[data-find]")?.focus(),
  "!": () => hub.floor.me?.user && dialogs.show({ kind: "freeze", project: null }),
  p: () => hub.floor.me?.user && dialogs.show({ kind: "create-project" }),
  "[": () => (preferences.floorOpen = !preferences.floorOpen),
  "]": () => (preferences.inspectorOpen = !preferences.inspectorOpen),
};

function newActivity(): void {
  const project = hub.floor.projects.get(projectOf(navigation.route) ?? "");
  if (project && canWrite(hub.floor.me, project))
    dialogs.show({ kind: "create-activity", project: project.id });
}

function nextWaiting(): void {
  const [request] = openApprovals(hub.floor);
  if (request) return navigation.go({ name: "approval", approval: request.id });
  const [asked] = escalationsFor(hub.floor);
  const [first] = waitingFor(hub.floor);
  if (asked && (!first || asked.created_at < first.state.since))
    navigation.go({ name: "escalation", escalation: asked.id });
  else if (first) navigation.go({ name: "session", session: first.id });
}

function toWork(place: "tasks" | "graph" | "workers"): void {
  const project = projectHere();
  if (project) navigation.go(`/p/${project}/${place}`);
}

// Out of the activity, back to its project's chat.
function leave(): void {
  const { route } = navigation;
  if ((route.name === "tasks" || route.name === "graph") && route.task)
    navigation.go({ ...route, task: null });
  else if (route.name === "workers" && route.worker) navigation.go({ ...route, worker: null });
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
    (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))
  );
}
