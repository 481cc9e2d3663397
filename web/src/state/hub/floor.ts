import type {
  Activity,
  ActivityId,
  AgentProfile,
  Approval,
  ApprovalId,
  Escalation,
  EscalationId,
  Execution,
  ExecutionId,
  Handoff,
  HandoffId,
  Landing,
  LandingId,
  LandingSettings,
  Me,
  MergeQueue,
  MergeSettings,
  Message,
  WorkOverlap,
  OverlapId,
  PresenceEntry,
  Project,
  ProjectId,
  Reservation,
  ReservationId,
  Recipe,
  RecipeId,
  ReviewLine,
  Runner,
  RunnerId,
  Schedule,
  ScheduleId,
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

/** The visible objects of the hub. */
export type Things = {
  users: ReadonlyMap<UserId, User>;
  projects: ReadonlyMap<ProjectId, Project>;
  activities: ReadonlyMap<ActivityId, Activity>;
  runners: ReadonlyMap<RunnerId, Runner>;
  workspaces: ReadonlyMap<WorkspaceId, Workspace>;
  sessions: ReadonlyMap<SessionId, Session>;
  /** Where the work of activities meets now. */
  overlaps: ReadonlyMap<OverlapId, WorkOverlap>;
  /** Files that activities say they will change. */
  reservations: ReadonlyMap<ReservationId, Reservation>;
  unread: ReadonlyMap<ProjectId, Unread>;
  workers: ReadonlyMap<WorkerId, Worker>;
  /** Open escalations, and those answered while the page was open. */
  escalations: ReadonlyMap<EscalationId, Escalation>;
  /** This person's open approvals, and those answered while the page was open. */
  approvals: ReadonlyMap<ApprovalId, Approval>;
  /** Reviews that changed while the page was open. */
  reviews: ReadonlyMap<string, ReviewLine>;
  /** The task settings of projects that changed them. */
  work: ReadonlyMap<ProjectId, WorkSettings>;
  /** Work on its way to a repository, and the newest that arrived. */
  /** Handoffs that are not over, or ended lately. */
  handoffs: ReadonlyMap<HandoffId, Handoff>;
  landings: ReadonlyMap<LandingId, Landing>;
  /** The landing settings of projects that changed them. */
  landing: ReadonlyMap<ProjectId, LandingSettings>;
  /** Merge queues that are stopped or hold branches, and those that moved since the page was opened. */
  merges: ReadonlyMap<ProjectId, readonly MergeQueue[]>;
  /** Open executions, the newest that are over, and those that were looked at. */
  executions: ReadonlyMap<ExecutionId, Execution>;
  schedules: ReadonlyMap<ScheduleId, Schedule>;
};

/** The loaded messages of a chat: the newest, back to where the person scrolled. */
export type Chat = {
  /** By number, without gaps. */
  messages: readonly Message[];
  /** Whether the first message is loaded. */
  complete: boolean;
  /** False after a full sync: the newest page must be fetched again. */
  fresh: boolean;
};

/** The state of the page. */
export type Floor = Things & {
  hub: string | null;
  me: Me | null;
  seq: number;
  /** Whether the first sync is complete. */
  loaded: boolean;
  /** An incomplete full sync; it replaces the state when it is complete. */
  staging: Things | null;
  chats: ReadonlyMap<ProjectId, Chat>;
  /** The highest message number per project, so that an edit does not count as unread. */
  newest: ReadonlyMap<ProjectId, number>;
  presence: ReadonlyMap<UserId, PresenceEntry>;
  /** Tasks are not in the sync: a board is fetched when it is opened and updated by deltas. */
  boards: ReadonlyMap<ProjectId, Board>;
  /** Decisions since the page was opened, newest first. */
  decisions: ReadonlyMap<ProjectId, readonly WorkEntry[]>;
  /** How projects merge, as far as it changed since the page was opened. */
  merging: ReadonlyMap<ProjectId, MergeSettings>;
  /** Counts branches that left the merge queues since the page was opened. */
  mergesEnded: number;
  /** Recipes that changed since the page was opened; a list of all is fetched. */
  recipes: ReadonlyMap<RecipeId, Recipe>;
  /** The agent profiles of projects that changed them since the page was opened. */
  profiles: ReadonlyMap<ProjectId, readonly AgentProfile[]>;
};

/** No objects. */
export const NOTHING: Things = {
  users: new Map(),
  projects: new Map(),
  activities: new Map(),
  runners: new Map(),
  workspaces: new Map(),
  sessions: new Map(),
  overlaps: new Map(),
  reservations: new Map(),
  unread: new Map(),
  workers: new Map(),
  escalations: new Map(),
  approvals: new Map(),
  reviews: new Map(),
  work: new Map(),
  handoffs: new Map(),
  landings: new Map(),
  landing: new Map(),
  merges: new Map(),
  executions: new Map(),
  schedules: new Map(),
};

/** The state before the first sync. */
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
  merging: new Map(),
  mergesEnded: 0,
  recipes: new Map(),
  profiles: new Map(),
};
