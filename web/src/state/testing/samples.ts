import type { Activity, Message, Project, Runner, Session, User, Workspace } from "../../protocol";

const at = "2026-11-15T10:00:00.000Z";

/** A person for tests. */
export function user(id: string, more: Partial<User> = {}): User {
  return {
    id,
    name: id,
    hub_owner: false,
    disabled: false,
    connected: false,
    last_seen_at: null,
    created_at: at,
    ...more,
  };
}

/** A project for tests. */
export function project(id: string, more: Partial<Project> = {}): Project {
  return {
    id,
    name: id,
    owner: { id: "ann", name: "ann" },
    visibility: "read-write",
    share_execution: false,
    archive_recordings: false,
    retention_days: null,
    content: id,
    version: 1,
    repositories: [],
    created_at: at,
    updated_at: at,
    ...more,
  };
}

/** An activity for tests. */
export function activity(id: string, more: Partial<Activity> = {}): Activity {
  return {
    id,
    project: "p",
    name: id,
    owner: { id: "ann", name: "ann" },
    status: "active",
    content: id,
    version: 1,
    links: [],
    created_at: at,
    updated_at: at,
    ...more,
  };
}

/** A message for tests. */
export function message(number: number, more: Partial<Message> = {}): Message {
  return {
    id: `m${number}`,
    project: "p",
    number,
    author: { id: "bo", name: "bo" },
    author_kind: "user",
    content: `text ${number}`,
    references: [],
    mentions: [],
    created_at: at,
    edited_at: null,
    deleted_at: null,
    ...more,
  };
}

/** A session for tests. */
export function session(id: string, more: Partial<Session> = {}): Session {
  return {
    id,
    project: "p",
    activity: "a",
    workspace: "w",
    runner: "r",
    owner: { id: "ann", name: "ann" },
    agent: "codex",
    mode: "interactive",
    model: null,
    title: id,
    state: status("working"),
    stopping: false,
    usage: { input_tokens: 0, cached_tokens: 0, output_tokens: 0, cost_micros: null },
    resumable: false,
    resumes: null,
    sandbox: false,
    recording: { output_bytes: 0, disk_bytes: 0, duration_ms: 0, keep: false },
    created_at: at,
    ...more,
  };
}

/** What a session is at, for tests. */
export function status(
  is: Session["state"]["status"],
  more: Partial<Session["state"]> = {},
): Session["state"] {
  return { status: is, detail: null, code: null, signal: null, since: at, ...more };
}

/** A workspace for tests. */
export function workspace(id: string, more: Partial<Workspace> = {}): Workspace {
  return {
    id,
    project: "p",
    activity: "a",
    runner: "r",
    owner: { id: "ann", name: "ann" },
    repository: null,
    branch: null,
    base: null,
    path: null,
    status: "ready",
    detail: null,
    ports: null,
    stats: null,
    disk_bytes: null,
    saved_at: null,
    created_at: at,
    updated_at: at,
    ...more,
  };
}

/** A runner for tests. */
export function runner(id: string, more: Partial<Runner> = {}): Runner {
  return {
    id,
    name: id,
    owner: { id: "ann", name: "ann" },
    connected: true,
    last_seen_at: at,
    created_at: at,
    about: null,
    ...more,
  };
}
