import type {
  AddedTasks,
  Project,
  Taken,
  TakenTask,
  TaskAdd,
  TaskDetail,
  TaskLine,
  Worker,
} from "../src/protocol";
import { expect, type Locator, type Page } from "@playwright/test";
import type { Floor } from "./fixtures";

/** Adds tasks to a project, all or none. */
export async function add(
  floor: Floor,
  project: Project,
  ...tasks: (string | TaskAdd)[]
): Promise<TaskLine[]> {
  const input = tasks.map((task) => (typeof task === "string" ? { description: task } : task));
  const made = await floor.hub.api<AddedTasks>("POST", `/api/projects/${project.id}/tasks`, { tasks: input });
  return made.tasks;
}

/** Takes the next or a given task as an external worker. */
export async function take(
  floor: Floor,
  project: Project,
  worker: string,
  task?: string,
  abilities: string[] = [],
): Promise<TakenTask> {
  const input = { worker, abilities, ...(task ? { task } : {}) };
  const { taken, why_not } = await floor.hub.api<Taken>("POST", `/api/projects/${project.id}/take`, input);
  if (!taken) throw new Error(`there was no task: ${why_not}`);
  return taken;
}

/** Reports progress. */
export async function progress(floor: Floor, { task, lease }: TakenTask, words: string): Promise<void> {
  await floor.hub.api("POST", `/api/tasks/${task.id}/heartbeat`, { fence: lease.fence, progress: words });
}

/** Completes a task. */
export async function report(floor: Floor, { task, lease }: TakenTask, summary: string): Promise<void> {
  await floor.hub.api("POST", `/api/tasks/${task.id}/report`, {
    fence: lease.fence,
    summary,
    context_score: 4,
  });
}

/** Asks a person. */
export async function ask(
  floor: Floor,
  { task, lease }: TakenTask,
  question: string,
  options: string[] = [],
) {
  await floor.hub.api("POST", `/api/tasks/${task.id}/ask`, { fence: lease.fence, question, options });
}

/** A task with its details. */
export function detail(floor: Floor, task: string): Promise<TaskDetail> {
  return floor.hub.api("GET", `/api/tasks/${task}`);
}

/** Workers that run a program for each task. */
export function start(floor: Floor, project: Project, script: string, count = 1): Promise<Worker[]> {
  const input = { agent: "command", argv: ["sh", "-c", script], count };
  return floor.hub.api("POST", `/api/projects/${project.id}/workers`, input);
}

/** A column of the board. */
export function column(page: Page, name: string): Locator {
  return page.getByRole("group", { name, exact: true });
}

/** Waits until a column has exactly these tasks, in any order. */
export async function has(page: Page, name: string, ...titles: string[]): Promise<void> {
  await expect
    .poll(async () => (await column(page, name).locator(".title").allTextContents()).sort(), {
      message: name,
    })
    .toEqual([...titles].sort());
}
