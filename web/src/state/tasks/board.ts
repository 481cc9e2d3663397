import type { TaskDetail, TaskId, TaskLine, TaskStatus } from "../../protocol";
import type { Floor } from "../hub/floor";
import { type Layered, layered, look, putAll, sizeOfLayers, valuesOf } from "../../lib/layered";
import { titleOf } from "../projects/words";

/** A change of a task's status while the page was open. */
export type Move = { number: number; task: TaskId; title: string; from: TaskStatus | null; to: TaskStatus };

/** The loaded tasks of a project. */
export type Board = {
  tasks: Layered<TaskId, TaskLine>;
  /** Whether the board is open; otherwise only recently changed tasks are kept. */
  wanted: boolean;
  /** False until the board is loaded, and again after a full sync. */
  fresh: boolean;
  /** Whether there were too many tasks to load all. */
  cut: boolean;
  /** The latest moves, oldest first. */
  moves: readonly Move[];
};

/** An empty board. */
export const NO_BOARD: Board = { tasks: layered(), wanted: false, fresh: false, cut: false, moves: [] };

/** Maximum number of tasks to keep for a board that is not open. */
const HEARD = 500;
const MOVES = 40;

/** The board with changed tasks; outdated changes are ignored. */
export function onBoard(board: Board, lines: readonly TaskLine[]): Board {
  const news = lines.filter((line) => isNews(line, look(board.tasks, line.id)));
  if (news.length === 0) return board;
  const moves = news.flatMap((line) => {
    const from = look(board.tasks, line.id)?.status ?? null;
    return from === line.status ? [] : [{ task: line.id, title: line.title, from, to: line.status }];
  });
  const last = board.moves.at(-1)?.number ?? 0;
  return {
    ...withLines(board, news),
    moves: [...board.moves, ...moves.map((move, at) => ({ ...move, number: last + at + 1 }))].slice(-MOVES),
  };
}

/** The board with a fetched page: adds no moves and keeps newer versions. */
export function paged(board: Board, lines: readonly TaskLine[]): Board {
  const news = lines.filter((line) => {
    const known = look(board.tasks, line.id);
    return !known || known.updated_at < line.updated_at;
  });
  return news.length === 0 ? board : withLines(board, news);
}

function withLines(board: Board, lines: readonly TaskLine[]): Board {
  const full = !board.wanted && sizeOfLayers(board.tasks) + lines.length > HEARD;
  const tasks = full ? layered<TaskId, TaskLine>() : board.tasks;
  return {
    ...board,
    tasks: putAll(
      tasks,
      lines.map((line) => [line.id, line] as const),
    ),
  };
}

function isNews(line: TaskLine, known: TaskLine | undefined): boolean {
  return !known || known.updated_at <= line.updated_at;
}

/** A task, if it is loaded. */
export function taskLine(floor: Floor, task: TaskId | null | undefined): TaskLine | undefined {
  if (!task) return undefined;
  for (const board of floor.boards.values()) {
    const found = look(board.tasks, task);
    if (found) return found;
  }
  return undefined;
}

/** What was heard of an activity's tasks: differs after each of their changes. */
export function heardOf(floor: Pick<Floor, "boards">, activity: { id: string; project: string }): string {
  let [count, newest] = [0, ""];
  for (const task of valuesOf(floor.boards.get(activity.project)?.tasks ?? layered<TaskId, TaskLine>())) {
    if (task.activity !== activity.id) continue;
    count++;
    if (task.updated_at > newest) newest = task.updated_at;
  }
  return `${count} ${newest}`;
}

/** A task by its short name, such as `CALC-12` in any case, if it is loaded. */
export function taskByShort(floor: Pick<Floor, "boards" | "projects">, short: string): TaskLine | undefined {
  const name = short.toUpperCase();
  for (const [project, board] of floor.boards) {
    if (!name.startsWith(`${floor.projects.get(project)?.key}-`)) continue;
    for (const task of valuesOf(board.tasks)) if (task.short === name) return task;
  }
  return undefined;
}

/** The board with the short names of a new key. */
export function renamed(board: Board, key: string): Board {
  const lines = [...valuesOf(board.tasks)].map((line): readonly [TaskId, TaskLine] => [
    line.id,
    { ...line, short: `${key}${line.short.slice(line.short.lastIndexOf("-"))}` },
  ]);
  return { ...board, tasks: putAll(board.tasks, lines) };
}

/** Since when a worker works on a task; null when no worker does. */
export function workedSince(floor: Pick<Floor, "sessions">, task: TaskLine): string | null {
  if (!task.assigned_to || COLUMN_OF[task.status] !== "working") return null;
  // A task changes when it is assigned and when its worker reports progress.
  return floor.sessions.get(task.session ?? "")?.created_at ?? task.updated_at;
}

/** After this time without a heartbeat, an external worker counts as inactive. */
const LATELY = 600_000;

/** Why a ready task is not assigned; the hub gives reasons only for managed workers. */
export function whyReady(
  floor: Pick<Floor, "workers">,
  task: Pick<TaskLine, "project" | "status" | "reason">,
  now: number,
): string | null {
  if (task.status !== "ready" || task.reason) return null;
  const here = [...floor.workers.values()].filter((one) => one.project === task.project);
  if (here.length === 0) return "No workers in this project. Start one, or take the task.";
  if (here.some((one) => one.kind === "managed")) return null;
  const heard = here.some((one) => one.task || (one.seen_at && Date.parse(one.seen_at) > now - LATELY));
  return heard
    ? "Waiting for an external worker to take it."
    : "No free worker: no external worker was active in the last 10 min. Start one, or take the task.";
}

/** The scroll position at which `part` is visible; both are measured from the start of the row. */
export function scrolledTo(
  view: { left: number; width: number },
  part: { left: number; width: number },
): number {
  if (part.left < view.left || part.width > view.width) return part.left;
  return Math.max(view.left, part.left + part.width - view.width);
}

/** The summary of a task, from its details. */
export function lineOfDetail({ task, deps }: TaskDetail): TaskLine {
  const { id, short, project, activity, status, reason, priority, attempt, assigned_to, session, progress } =
    task;
  return {
    ...{ id, short, project, activity, status, reason, priority, attempt, assigned_to, session, progress },
    labels: task.labels,
    needs: task.needs,
    title: titleOf(task.description),
    deps: task.deps,
    waits_for: deps.filter((dep) => dep.status !== "done").length,
    created_at: task.created_at,
    updated_at: task.updated_at,
  };
}

/** A column of the board. */
export type ColumnName = "blocked" | "ready" | "working" | "checking" | "escalated" | "done" | "over";

/** The columns in order, each with its statuses. */
export const COLUMNS: readonly { name: ColumnName; word: string; statuses: readonly TaskStatus[] }[] = [
  { name: "blocked", word: "Blocked", statuses: ["blocked"] },
  { name: "ready", word: "Ready", statuses: ["ready"] },
  { name: "working", word: "In progress", statuses: ["assigned", "running"] },
  { name: "checking", word: "Checking", statuses: ["reported", "validating"] },
  { name: "escalated", word: "Needs you", statuses: ["escalated"] },
  { name: "done", word: "Done", statuses: ["done"] },
  { name: "over", word: "Failed or cancelled", statuses: ["failed", "cancelled"] },
];

const COLUMN_OF = Object.fromEntries(
  COLUMNS.flatMap(({ name, statuses }) => statuses.map((status) => [status, name])),
) as Record<TaskStatus, ColumnName>;

/** The column for a status. */
export function columnOf(status: TaskStatus): ColumnName {
  return COLUMN_OF[status];
}

/** The filter of a board. */
export type TaskQuery = {
  text: string;
  worker: string | null;
  activity: string | null;
  /** One status, or `open`: all that are not over. */
  status?: TaskStatus | "open" | undefined;
  label?: string | undefined;
  /** An ability that the worker must have. */
  need?: string | undefined;
  /** The order of the list, such as `-priority`. */
  sort?: string | undefined;
};

/** Whether a filter leaves tasks out. */
export function isNarrowed({ text, worker, activity, status, label, need }: TaskQuery): boolean {
  return Boolean(text || worker || activity || status || label || need);
}

/** The labels, or the required abilities, of the loaded tasks, in order. */
export function wordsOf(tasks: Iterable<TaskLine>, of: "labels" | "needs"): string[] {
  const found = new Set<string>();
  for (const task of tasks) for (const word of task[of]) found.add(word);
  return [...found].sort((a, b) => a.localeCompare(b, "en"));
}

/** Whether a task matches; every word must occur in its name, title, reason or progress, or start its id. */
export function fits(task: TaskLine, query: TaskQuery): boolean {
  if (query.worker && task.assigned_to !== query.worker) return false;
  if (query.activity && task.activity !== query.activity) return false;
  if (query.status === "open" ? OVER.has(task.status) : query.status && task.status !== query.status)
    return false;
  if (query.label && !task.labels.includes(query.label)) return false;
  if (query.need && !task.needs.includes(query.need)) return false;
  const words = query.text.toLowerCase().split(/\s+/u).filter(Boolean);
  if (words.length === 0) return true;
  const hay = `${task.short} ${task.title} ${task.reason ?? ""} ${task.progress ?? ""}`.toLowerCase();
  // Only the start of the id: any short number occurs somewhere in thousands of ids.
  const id = task.id.toLowerCase();
  return words.every((word) => hay.includes(word) || (word.length > 4 && id.startsWith(word)));
}

/** The tasks by column: open ones by queue order, finished ones newest first. */
export function columns(tasks: Layered<TaskId, TaskLine>, query: TaskQuery): Record<ColumnName, TaskLine[]> {
  const found = Object.fromEntries(COLUMNS.map(({ name }) => [name, [] as TaskLine[]])) as Record<
    ColumnName,
    TaskLine[]
  >;
  for (const task of valuesOf(tasks)) if (fits(task, query)) found[COLUMN_OF[task.status]].push(task);
  for (const { name } of COLUMNS) found[name].sort(name === "done" || name === "over" ? byEnd : byTurn);
  return found;
}

/** The order of the queue: higher priority first, then older. */
export function byTurn(a: TaskLine, b: TaskLine): number {
  return b.priority - a.priority || (a.id < b.id ? -1 : 1);
}

function byEnd(a: TaskLine, b: TaskLine): number {
  return a.updated_at > b.updated_at ? -1 : a.updated_at < b.updated_at ? 1 : a.id < b.id ? -1 : 1;
}

/** A column while the pointer is over it. */
export type Held = { rows: readonly TaskLine[]; waiting: number };

/** Keeps cards in their places under the pointer: shown ones are updated, new ones wait until the pointer leaves. */
export function held(
  shown: readonly TaskId[] | null,
  now: readonly TaskLine[],
  tasks: Layered<TaskId, TaskLine>,
): Held {
  if (shown === null || shown.length === 0) return { rows: now, waiting: 0 };
  const there = new Set(shown);
  return {
    rows: shown.flatMap((id) => look(tasks, id) ?? []),
    waiting: now.reduce((sum, task) => sum + (there.has(task.id) ? 0 : 1), 0),
  };
}

/** The moves after a given one, in a short text for screen readers; null when there are none. */
export function tell(
  moves: readonly Move[],
  after: number,
  wordOf: (to: TaskStatus) => string,
): string | null {
  const news = moves.filter((move) => move.number > after);
  const [first] = news;
  if (!first) return null;
  if (news.length <= 2) return news.map((move) => `${move.title}: ${wordOf(move.to)}`).join(". ");
  const counts = new Map<string, number>();
  for (const move of news) counts.set(wordOf(move.to), (counts.get(wordOf(move.to)) ?? 0) + 1);
  return `${news.length} tasks moved: ${[...counts].map(([word, count]) => `${count} ${word}`).join(", ")}`;
}

const OVER: ReadonlySet<TaskLine["status"]> = new Set(["done", "failed", "cancelled"]);
const HELD: ReadonlySet<TaskLine["status"]> = new Set(["assigned", "running", "reported", "validating"]);

// The hub's reasons for tasks that wait for an approval start with this text.
const WAITS = "waits until ";

/** Whether a task in progress waits for an approval by a runner's owner. */
export function isHeldUp({ status, reason }: Pick<TaskLine, "status" | "reason">): boolean {
  return HELD.has(status) && reason !== null && reason.startsWith(WAITS);
}

/** The note on a task: why it ended or waits, otherwise its progress. */
export function noteOf({
  status,
  reason,
  progress,
}: Pick<TaskLine, "status" | "reason" | "progress">): string | null {
  if (OVER.has(status)) return reason;
  return isHeldUp({ status, reason }) ? reason : (progress ?? reason);
}
