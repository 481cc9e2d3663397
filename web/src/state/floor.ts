import type {
  Activity,
  ActivityId,
  Me,
  Message,
  PresenceEntry,
  Project,
  ProjectId,
  Runner,
  RunnerId,
  Session,
  SessionId,
  Unread,
  User,
  UserId,
  Workspace,
  WorkspaceId,
} from "../protocol";

/** What exists, as far as this page may see it. */
export type Things = {
  users: ReadonlyMap<UserId, User>;
  projects: ReadonlyMap<ProjectId, Project>;
  activities: ReadonlyMap<ActivityId, Activity>;
  runners: ReadonlyMap<RunnerId, Runner>;
  workspaces: ReadonlyMap<WorkspaceId, Workspace>;
  sessions: ReadonlyMap<SessionId, Session>;
  unread: ReadonlyMap<ProjectId, Unread>;
};

/** A part of one project's chat: always up to the newest message, and back as far as somebody scrolled. */
export type Chat = {
  /** By number, without gaps. */
  messages: readonly Message[];
  /** Whether the first message is among them. */
  complete: boolean;
  /** False after a full sync: messages may be missing, so the newest page must be fetched again. */
  fresh: boolean;
};

/** Everything that the page knows of the hub. */
export type Floor = Things & {
  hub: string | null;
  me: Me | null;
  seq: number;
  /** Whether a whole state has been received once. */
  loaded: boolean;
  /** A full sync that is still coming in; it replaces what is shown only when it is whole. */
  staging: Things | null;
  chats: ReadonlyMap<ProjectId, Chat>;
  /** The highest message number seen per project, so that an edit is not counted as news. */
  newest: ReadonlyMap<ProjectId, number>;
  presence: ReadonlyMap<UserId, PresenceEntry>;
};

/** Nothing exists. */
export const NOTHING: Things = {
  users: new Map(),
  projects: new Map(),
  activities: new Map(),
  runners: new Map(),
  workspaces: new Map(),
  sessions: new Map(),
  unread: new Map(),
};

/** The floor before the hub has said anything. */
export const EMPTY: Floor = {
  ...NOTHING,
  hub: null,
  me: null,
  seq: 0,
  loaded: false,
  staging: null,
  chats: new Map(),
  newest: new Map(),
  presence: new Map(),
};
