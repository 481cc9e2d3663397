import type { Command } from "../features/palette/command";
import type { Project, TaskLine } from "../protocol";
import { canGovern, canWrite } from "../state/projects/access";
import { APPROVAL, openApprovals, writerOf } from "../state/needs/approvals";
import { taskLine } from "../state/tasks/board";
import { dialogs } from "../state/shell/dialogs.svelte";
import { valuesOf } from "../lib/layered";
import { navigation } from "../state/shell/navigation.svelte";
import { executionsOf } from "../state/recipes/executions";
import { lookOf } from "../state/recipes/words";
import { executionPath, taskPath } from "../state/shell/route";
import { hub } from "../state/hub/hub.svelte";
import { escalationsFor, isUp, workersOf } from "../state/workers/workers";
import { pageLines, type PageName } from "../state/projects/pages";
import { owners } from "../state/projects/tree";
import { titleOf } from "../state/projects/words";
import { ESCALATION } from "../state/needs/words";
import { attempt, go, projectHere } from "./commands";

/** Maximum number of tasks in the palette; more would make it slow. */
const MOST = 2_000;

function projectNow(): Project | undefined {
  return hub.floor.projects.get(projectHere() ?? "");
}

/** Pages and commands for the tasks and workers of the current project. */
export function workHere(): Command[] {
  const { floor } = hub;
  const project = projectNow();
  if (!project) return [];
  const { id, name } = project;
  const writes = canWrite(floor.me, project);
  const found: Command[] = writes ? [...ofTask(), ...verbs(id, name)] : [];
  found.push(...pagesOf(project));
  if (writes) found.push(go("new recipe", "plus", "New recipe", name, `/p/${id}/recipes/new`));
  found.push(go("escalations", "waiting", "Open requests in this project", name, `/p/${id}/escalations`));
  const verb = canGovern(floor.me, project) ? "Edit task settings" : "Task settings";
  found.push(go("work settings", "gear", verb, name, `/p/${id}/work`));
  return found;
}

/** The pages of the other projects. */
export function pagesElsewhere(): Command[] {
  const here = projectHere();
  return owners(hub.floor).flatMap(({ branches }) =>
    branches.filter(({ project }) => project.id !== here).flatMap(({ project }) => pagesOf(project)),
  );
}

function pagesOf(project: Project): Command[] {
  return pageLines(project).map(({ id, name, title, path }) => go(id, PAGE[name], title, project.name, path));
}

const PAGE: Record<PageName, Command["icon"]> = {
  chat: "chat",
  tasks: "board",
  list: "audit",
  graph: "graph",
  workers: "workers",
  merge: "branch",
  recipes: "audit",
  executions: "graph",
  schedules: "history",
  artifacts: "folder",
  decisions: "audit",
  metrics: "plot",
};

/** The executions, workers and tasks of the current project; open ones first. */
export function thingsHere(): Command[] {
  const { floor } = hub;
  const project = projectNow();
  if (!project) return [];
  const { id } = project;
  const found = executionsOf(floor, id)
    .slice(0, 50)
    .map((one) =>
      go(one.id, "graph", one.name, `Execution · ${lookOf(one).word}`, executionPath(one), "execution"),
    );
  const workers = workersOf(floor, id);
  for (const worker of [...workers.filter(isUp), ...workers.filter((one) => !isUp(one))]) {
    const detail = `Worker · ${worker.status} · ${worker.agent}`;
    found.push(go(worker.id, "workers", worker.name, detail, `/p/${id}/workers/${worker.id}`, "worker"));
  }
  const board = floor.boards.get(id);
  const tasks = board ? [...valuesOf(board.tasks)].slice(-MOST) : [];
  const isOpen = (task: TaskLine) => task.status !== "done" && task.status !== "cancelled";
  for (const task of [...tasks.filter(isOpen), ...tasks.filter((one) => !isOpen(one))])
    found.push(go(task.id, "ready", task.title, `Task · ${task.status}`, taskPath(task), "task"));
  return found;
}

/** Open requests for this person, in all projects. */
export function needed(): Command[] {
  const { floor } = hub;
  const requests = openApprovals(floor).map((one) => {
    const by = `${APPROVAL[one.kind].word} by ${writerOf(floor, one.author)} · ${one.project_name}`;
    return go(
      one.id,
      "waiting",
      `Allow or deny: ${titleOf(one.text)}`,
      by,
      `/approvals/${one.id}`,
      "request",
    );
  });
  const asked = escalationsFor(floor).map((one) =>
    go(
      one.id,
      "waiting",
      one.question,
      `${ESCALATION[one.kind].short} · ${one.title}`,
      `/e/${one.id}`,
      "request",
    ),
  );
  return [...requests, ...asked];
}

function verbs(project: string, name: string): Command[] {
  const mine = workersOf(hub.floor, project).filter(
    (worker) => worker.owner.id === hub.floor.me?.user?.id && isUp(worker),
  );
  const found: Command[] = [];
  const add = (icon: Command["icon"], title: string, detail: string, run: () => void) =>
    found.push({ id: `work ${title}`, icon, title, detail, run });
  add("plus", "Add tasks", `${name} · shopfloor task add`, () =>
    dialogs.show({ kind: "add-tasks", project }),
  );
  add("workers", "Start workers", `${name} · shopfloor worker start`, () =>
    dialogs.show({ kind: "start-workers", project }),
  );
  if (mine.length > 0) {
    add("stop", "Stop my workers in this project", `${name} · shopfloor worker stop-all`, () =>
      attempt(
        hub.call({ verb: "worker.stop_all", project, input: { force: false } }),
        "Stopping your workers",
      ),
    );
    add("stop", "Stop everything in this project", `${name} · shopfloor stop-everything`, () =>
      dialogs.show({ kind: "freeze", project }),
    );
  }
  return found;
}

function ofTask(): Command[] {
  const { route } = navigation;
  const task = taskLine(hub.floor, "task" in route ? route.task : null);
  if (!task) return [];
  const found: Command[] = [];
  const add = (icon: Command["icon"], title: string, run: () => void) =>
    found.push({ id: `task ${title}`, icon, title, detail: task.title, run });
  if (["failed", "escalated", "cancelled"].includes(task.status))
    add("sync", "Retry this task", () =>
      attempt(hub.call({ verb: "task.retry", task: task.id, input: {} }), `${task.title}: queued again`),
    );
  if (!["done", "failed", "cancelled"].includes(task.status)) {
    add("take", "Take over this task", () => dialogs.show({ kind: "take-over", task: task.id }));
    add("abandoned", "Cancel this task", () =>
      attempt(hub.call({ verb: "task.cancel", task: task.id, input: {} }), `${task.title}: cancelled`),
    );
  }
  return found;
}
