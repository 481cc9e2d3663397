import type {
  Activity,
  ActivityId,
  Approval,
  ApprovalId,
  Escalation,
  EscalationId,
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
  Worker,
  WorkerId,
  WorkEntry,
  WorkSettings,
  Workspace,
  WorkspaceId,
} from "../../protocol";
import type { Board } from "../tasks/board";

/** What exists, as far as this page may see it. */
export type Things = {
  users: ReadonlyMap<UserId, User>;
  projects: ReadonlyMap<ProjectId, Project>;
  activities: ReadonlyMap<ActivityId, Activity>;
  runners: ReadonlyMap<RunnerId, Runner>;
  workspaces: ReadonlyMap<WorkspaceId, Workspace>;
  sessions: ReadonlyMap<SessionId, Session>;
  unread: ReadonlyMap<ProjectId, Unread>;
  workers: ReadonlyMap<WorkerId, Worker>;
  /** Those that are open, and those that were answered while this page looked. */
  escalations: ReadonlyMap<EscalationId, Escalation>;
  /** Requests to this person: those that are open, and those that were answered while this page looked. */
  approvals: ReadonlyMap<ApprovalId, Approval>;
  /** How projects hand out their tasks, as far as they ever said. */
  work: ReadonlyMap<ProjectId, WorkSettings>;
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
  /** Tasks are not part of the sync: a board is fetched when somebody looks, and kept by what is heard. */
  boards: ReadonlyMap<ProjectId, Board>;
  /** What was decided since the page was opened, newest first. */
  decisions: ReadonlyMap<ProjectId, readonly WorkEntry[]>;
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
  workers: new Map(),
  escalations: new Map(),
  approvals: new Map(),
  work: new Map(),
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
  boards: new Map(),
  decisions: new Map(),
};
