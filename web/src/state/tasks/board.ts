import type { TaskDetail, TaskId, TaskLine, TaskStatus } from "../../protocol";
import type { Floor } from "../hub/floor";
import { type Layered, layered, look, putAll, sizeOfLayers, valuesOf } from "../../lib/layered";
import { titleOf } from "../projects/words";

/** A task that went from one status to another while this page looked. */
export type Move = { number: number; task: TaskId; title: string; from: TaskStatus | null; to: TaskStatus };

/** What this page knows of one project's tasks. */
export type Board = {
  tasks: Layered<TaskId, TaskLine>;
  /** Whether somebody looks at all of it; else only what was heard lately is kept. */
  wanted: boolean;
  /** False until all of it was fetched, and again after a full sync. */
  fresh: boolean;
  /** Whether there were too many to fetch all. */
  cut: boolean;
  /** The last moves, oldest first. */
  moves: readonly Move[];
};

/** A board of which nothing is known. */
export const NO_BOARD: Board = { tasks: layered(), wanted: false, fresh: false, cut: false, moves: [] };

/** How many tasks are kept of a board that nobody looks at. */
const HEARD = 500;
const MOVES = 40;

/** The board after its tasks were heard of; older news than what is known changes nothing. */
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

/** The board with a page of what was asked for: no move, and nothing newer is overwritten. */
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

/** A task as far as anything was heard of it. */
export function taskLine(floor: Floor, task: TaskId | null | undefined): TaskLine | undefined {
  if (!task) return undefined;
  for (const board of floor.boards.values()) {
    const found = look(board.tasks, task);
    if (found) return found;
  }
  return undefined;
}

/** Since when somebody works on a task, as far as that is known; null when nobody does. */
export function workedSince(floor: Pick<Floor, "sessions">, task: TaskLine): string | null {
  if (!task.assigned_to || COLUMN_OF[task.status] !== "working") return null;
  // A task changes when it is taken and when its worker says something.
  return floor.sessions.get(task.session ?? "")?.created_at ?? task.updated_at;
}

/** A worker that takes tasks itself and was not heard from for so long is not waited for. */
const LATELY = 600_000;

/** Why nobody takes a ready task, where the hub says nothing: it hands tasks to managed workers only. */
export function whyReady(
  floor: Pick<Floor, "workers">,
  task: Pick<TaskLine, "project" | "status" | "reason">,
  now: number,
): string | null {
  if (task.status !== "ready" || task.reason) return null;
  const here = [...floor.workers.values()].filter((one) => one.project === task.project);
  if (here.length === 0) return "Nobody takes it: there is no worker. Start one, or take it.";
  if (here.some((one) => one.kind === "managed")) return null;
  const heard = here.some((one) => one.task || (one.seen_at && Date.parse(one.seen_at) > now - LATELY));
  return heard
    ? "Its workers take tasks themselves: it waits until one takes it."
    : "Nobody takes it: its workers take tasks themselves, and none was heard from for 10 min. Start one, or take it.";
}

/** How far a row is to be scrolled so that a part of it is seen; `part` is where that is from the row's beginning. */
export function scrolledTo(
  view: { left: number; width: number },
  part: { left: number; width: number },
): number {
  if (part.left < view.left || part.width > view.width) return part.left;
  return Math.max(view.left, part.left + part.width - view.width);
}

/** A task in one line, from all that is known of it. */
export function lineOfDetail({ task, deps }: TaskDetail): TaskLine {
  const { id, project, activity, status, reason, priority, attempt, assigned_to, session, progress } = task;
  return {
    ...{ id, project, activity, status, reason, priority, attempt, assigned_to, session, progress },
    title: titleOf(task.description),
    deps: task.deps,
    waits_for: deps.filter((dep) => dep.status !== "done").length,
    created_at: task.created_at,
    updated_at: task.updated_at,
  };
}

/** A column of the board. */
export type ColumnName = "blocked" | "ready" | "working" | "checking" | "escalated" | "done" | "over";

/** The columns in their order, each with the statuses that it shows. */
export const COLUMNS: readonly { name: ColumnName; word: string; statuses: readonly TaskStatus[] }[] = [
  { name: "blocked", word: "Blocked", statuses: ["blocked"] },
  { name: "ready", word: "Ready", statuses: ["ready"] },
  { name: "working", word: "In work", statuses: ["assigned", "running"] },
  { name: "checking", word: "Checking", statuses: ["reported", "validating"] },
  { name: "escalated", word: "Needs you", statuses: ["escalated"] },
  { name: "done", word: "Done", statuses: ["done"] },
  { name: "over", word: "Failed or cancelled", statuses: ["failed", "cancelled"] },
];

const COLUMN_OF = Object.fromEntries(
  COLUMNS.flatMap(({ name, statuses }) => statuses.map((status) => [status, name])),
) as Record<TaskStatus, ColumnName>;

/** The column that a status is shown in. */
export function columnOf(status: TaskStatus): ColumnName {
  return COLUMN_OF[status];
}

/** What narrows a board. */
export type TaskQuery = { text: string; worker: string | null; activity: string | null };

/** Whether a task fits; every word of the text must be in its title, reason or progress, or begin its id. */
export function fits(task: TaskLine, query: TaskQuery): boolean {
  if (query.worker && task.assigned_to !== query.worker) return false;
  if (query.activity && task.activity !== query.activity) return false;
  const words = query.text.toLowerCase().split(/\s+/u).filter(Boolean);
  if (words.length === 0) return true;
  const hay = `${task.title} ${task.reason ?? ""} ${task.progress ?? ""}`.toLowerCase();
  // Not anywhere in the id: among thousands of them, every short number is in some.
  const id = task.id.toLowerCase();
  return words.every((word) => hay.includes(word) || (word.length > 4 && id.startsWith(word)));
}

/** The tasks by column: what goes next first, what ended last first. */
export function columns(tasks: Layered<TaskId, TaskLine>, query: TaskQuery): Record<ColumnName, TaskLine[]> {
  const found = Object.fromEntries(COLUMNS.map(({ name }) => [name, [] as TaskLine[]])) as Record<
    ColumnName,
    TaskLine[]
  >;
  for (const task of valuesOf(tasks)) if (fits(task, query)) found[COLUMN_OF[task.status]].push(task);
  for (const { name } of COLUMNS) found[name].sort(name === "done" || name === "over" ? byEnd : byTurn);
  return found;
}

function byTurn(a: TaskLine, b: TaskLine): number {
  return b.priority - a.priority || (a.id < b.id ? -1 : 1);
}

function byEnd(a: TaskLine, b: TaskLine): number {
  return a.updated_at > b.updated_at ? -1 : a.updated_at < b.updated_at ? 1 : a.id < b.id ? -1 : 1;
}

/** A column as it is drawn while somebody points at it. */
export type Held = { rows: readonly TaskLine[]; waiting: number };

/**
 * A column in which nothing jumps: what was there stays where it was, with what is true of it now, and what is new waits
 * until the pointer has left.
 */
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

/** What moved since a move, in few words for a screen reader; null when nothing did. */
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

// How the hub begins the reason of a task that waits until a runner's owner allows something.
const WAITS = "waits until ";

/** Whether work on a task stands still until the owner of a runner allows something. */
export function isHeldUp({ status, reason }: Pick<TaskLine, "status" | "reason">): boolean {
  return HELD.has(status) && reason !== null && reason.startsWith(WAITS);
}

/** What is said of a task in a line: why it is over, what holds it up, else how far it is. */
export function noteOf({
  status,
  reason,
  progress,
}: Pick<TaskLine, "status" | "reason" | "progress">): string | null {
  if (OVER.has(status)) return reason;
  return isHeldUp({ status, reason }) ? reason : (progress ?? reason);
}
