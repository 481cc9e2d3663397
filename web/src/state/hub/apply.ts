import type {
  Answer,
  Change,
  Execution,
  FromHub,
  Message,
  WorkOverlap,
  PresenceEntry,
  Project,
  TaskDetail,
  TaskLine,
} from "../../protocol";
import { lineOfDetail, NO_BOARD, onBoard, paged, renamed } from "../tasks/board";
import { hear } from "../chat/chat";
import { EMPTY, type Floor, NOTHING, type Things } from "./floor";
import { dropWhere, put, putAll, unreachable, without } from "../../lib/maps";
import { change, changeAll } from "./things";
import { decided } from "../workers/workers";

/** The state after a frame from the hub. */
export function apply(floor: Floor, frame: FromHub): Floor {
  switch (frame.type) {
    case "welcome": {
      const known = frame.hub === floor.hub ? floor : EMPTY;
      return { ...known, hub: frame.hub, me: frame.me, staging: frame.resumed ? null : NOTHING };
    }
    case "sync": {
      const staging = changeAll(frame.part === 0 ? NOTHING : (floor.staging ?? NOTHING), frame.changes);
      return frame.last ? replace(floor, staging, frame.seq) : { ...floor, staging };
    }
    case "delta":
      // One commit can have several deltas with the same number.
      return frame.seq < floor.seq ? floor : { ...happened(floor, frame.change), seq: frame.seq };
    case "live":
      return { ...floor, seq: Math.max(floor.seq, frame.seq), loaded: true };
    case "answer":
      return answered(floor, frame.answer);
    case "presence":
      return { ...floor, presence: arrive(frame.reset ? new Map() : floor.presence, frame.entries) };
    case "error":
    case "watching":
    case "unwatched":
      return floor;
    default:
      return unreachable(frame, floor);
  }
}

function replace(floor: Floor, things: Things, seq: number): Floor {
  const chats = [...floor.chats].filter(([project]) => things.projects.has(project));
  const boards = [...floor.boards].filter(([project]) => things.projects.has(project));
  return {
    ...floor,
    ...things,
    seq,
    loaded: true,
    staging: null,
    newest: new Map(),
    chats: new Map(chats.map(([project, chat]) => [project, { ...chat, fresh: false }])),
    boards: new Map(boards.map(([project, board]) => [project, { ...board, fresh: false }])),
    decisions: new Map(),
    merging: new Map(),
    recipes: new Map(),
    profiles: new Map(),
  };
}

function happened(floor: Floor, what: Change): Floor {
  if (what.kind === "message") return said(floor, what.message);
  if (what.kind === "tasks") return moved(floor, what.tasks);
  if (what.kind === "work_entry") {
    return { ...floor, decisions: decided(floor.decisions, what.entry) };
  }
  if (what.kind === "candidate") return { ...floor, mergesEnded: floor.mergesEnded + 1 };
  if (what.kind === "merge_settings") {
    return { ...floor, merging: put(floor.merging, what.project, what.settings) };
  }
  if (what.kind === "recipe") return { ...floor, recipes: put(floor.recipes, what.recipe.id, what.recipe) };
  if (what.kind === "profiles") {
    return { ...floor, profiles: put(floor.profiles, what.project, what.profiles) };
  }
  const next = change(floor, what);
  if (what.kind === "project") return named(next, what.project, floor.projects.get(what.project.id)?.key);
  if (what.kind === "project_gone") {
    return {
      ...next,
      chats: without(next.chats, what.project),
      newest: without(next.newest, what.project),
      boards: without(next.boards, what.project),
      decisions: without(next.decisions, what.project),
      merging: without(next.merging, what.project),
      recipes: dropWhere(next.recipes, (one) => one.project === what.project),
      profiles: without(next.profiles, what.project),
    };
  }
  if (what.kind === "execution_gone") return unshared(next, what.project);
  if (what.kind === "user" && what.user.id === floor.me?.user?.id) {
    return { ...next, me: { ...floor.me, user: what.user } };
  }
  return next;
}

// The short names of loaded tasks follow the project's key.
function named(floor: Floor, { id, key }: Project, before: string | undefined): Floor {
  const board = floor.boards.get(id);
  if (!board || before === undefined || before === key) return floor;
  return { ...floor, boards: put(floor.boards, id, renamed(board, key)) };
}

// Removes other people's sessions and workspaces in a project, and what meets them.
function unshared(floor: Floor, project: string): Floor {
  const me = floor.me?.user?.id;
  const isTheirs = (one: { project: string; owner: { id: string } }) =>
    one.project === project && one.owner.id !== me;
  const meetsTheirs = (one: WorkOverlap) =>
    one.project === project && [one.one, one.other].some((side) => side?.workspace && side.owner.id !== me);
  return {
    ...floor,
    workspaces: dropWhere(floor.workspaces, isTheirs),
    sessions: dropWhere(floor.sessions, isTheirs),
    overlaps: dropWhere(floor.overlaps, meetsTheirs),
  };
}

// Adds the task with its dependencies and dependants to the board, for their titles.
function detailed(floor: Floor, detail: TaskDetail): Floor {
  const { project } = detail.task;
  const board = floor.boards.get(project) ?? NO_BOARD;
  const lines = [...detail.deps, ...detail.dependants, lineOfDetail(detail)];
  return { ...floor, boards: put(floor.boards, project, paged(board, lines)) };
}

// All changed tasks are in the same project.
function moved(floor: Floor, tasks: readonly TaskLine[]): Floor {
  const [first] = tasks;
  if (!first) return floor;
  const board = floor.boards.get(first.project) ?? NO_BOARD;
  return { ...floor, boards: put(floor.boards, first.project, onBoard(board, tasks)) };
}

function said(floor: Floor, message: Message): Floor {
  const { project, number } = message;
  const chat = floor.chats.get(project);
  const newest = floor.newest.get(project);
  const untouched = message.edited_at === null && message.deleted_at === null;
  const isNew = newest === undefined ? untouched : number > newest;
  return {
    ...floor,
    chats: chat ? put(floor.chats, project, hear(chat, message)) : floor.chats,
    newest: number > (newest ?? 0) ? put(floor.newest, project, number) : floor.newest,
    unread: isNew ? count(floor, message) : floor.unread,
  };
}

function count(floor: Floor, message: Message): Floor["unread"] {
  const me = floor.me?.user?.id;
  const before = floor.unread.get(message.project) ?? {
    project: message.project,
    read: 0,
    count: 0,
    mentions: 0,
  };
  if (!me || message.author.id === me || message.number <= before.read || message.deleted_at)
    return floor.unread;
  const mentions = before.mentions + (message.mentions.includes(me) ? 1 : 0);
  return put(floor.unread, message.project, { ...before, count: before.count + 1, mentions });
}

function arrive(presence: Floor["presence"], entries: readonly PresenceEntry[]): Floor["presence"] {
  const next = new Map(presence);
  for (const entry of entries) {
    if (entry.connected) next.set(entry.user, entry);
    else next.delete(entry.user);
  }
  return next;
}

// An answer may arrive before or after its delta: ignore it when it is older than the state.
function answered(floor: Floor, answer: Answer): Floor {
  switch (answer.kind) {
    case "project":
      return isOlder(answer.value, floor.projects.get(answer.value.id))
        ? floor
        : change(floor, { kind: "project", project: answer.value });
    case "activity":
      return isOlder(answer.value, floor.activities.get(answer.value.id))
        ? floor
        : change(floor, { kind: "activity", activity: answer.value });
    case "session":
      return answer.value.state.since < (floor.sessions.get(answer.value.id)?.state.since ?? "")
        ? floor
        : change(floor, { kind: "session", session: answer.value });
    case "session_detail": {
      const known = answered(floor, { kind: "workspace", value: answer.value.workspace });
      return answered(known, { kind: "session", value: answer.value.session });
    }
    case "workspace":
      return isOlder(answer.value, floor.workspaces.get(answer.value.id))
        ? floor
        : change(floor, { kind: "workspace", workspace: answer.value });
    case "escalation":
      // An outdated answer must not reopen an escalation.
      return floor.escalations.get(answer.value.id)?.answered_at && !answer.value.answered_at
        ? floor
        : change(floor, { kind: "escalation", escalation: answer.value });
    case "approval":
      return floor.approvals.get(answer.value.id)?.answered_at && !answer.value.answered_at
        ? floor
        : change(floor, { kind: "approval", approval: answer.value });
    case "execution":
      return went(floor, [answer.value]);
    case "execution_detail":
      return went(floor, [answer.value.execution]);
    case "executions":
      return went(floor, answer.value);
    case "recipe":
      return { ...floor, recipes: put(floor.recipes, answer.value.id, answer.value) };
    case "schedule":
      return change(floor, { kind: "schedule", schedule: answer.value });
    case "schedules":
      return { ...floor, schedules: putAll(floor.schedules, answer.value) };
    case "runner":
      return change(floor, { kind: "runner", runner: answer.value });
    case "added_tasks":
      return moved(floor, answer.value.tasks);
    case "task_detail":
      return detailed(floor, answer.value);
    case "unread":
      return change(floor, { kind: "unread", unread: answer.value });
    case "message":
      return said(floor, answer.value);
    case "me":
      return { ...floor, me: answer.value };
    default:
      return floor;
  }
}

function went(floor: Floor, executions: readonly Execution[]): Floor {
  const newer = executions.filter((one) => one.revision >= (floor.executions.get(one.id)?.revision ?? 0));
  return { ...floor, executions: putAll(floor.executions, newer) };
}

function isOlder(view: { updated_at: string }, known: { updated_at: string } | undefined): boolean {
  return known !== undefined && view.updated_at < known.updated_at;
}
