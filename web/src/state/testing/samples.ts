import type { Activity, Message, Project, User } from "../../protocol";

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
