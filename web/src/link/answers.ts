import type { Answer, Call } from "../protocol";

/** Every verb of the protocol. */
export type Verb = Call["verb"];

/** What each verb answers; a verb that is new or gone is a type error here. */
export const ANSWER_KIND = {
  me: "me",
  "me.rename": "user",
  "user.list": "users",
  "user.show": "user",
  "user.disable": "user",
  "user.enable": "user",
  "project.list": "projects",
  "project.show": "project",
  "project.create": "project",
  "project.update": "project",
  "project.delete": "done",
  "project.versions": "versions",
  "project.diff": "diff",
  "activity.list": "activities",
  "activity.show": "activity",
  "activity.create": "activity",
  "activity.update": "activity",
  "activity.versions": "versions",
  "activity.diff": "diff",
  "chat.history": "messages",
  "chat.send": "message",
  "chat.edit": "message",
  "chat.delete": "done",
  "chat.read": "unread",
  "chat.unread": "unreads",
  "token.list": "tokens",
  "token.create": "new_token",
  "token.revoke": "done",
  "login.list": "logins",
  "login.link": "login_link",
  "login.revoke": "done",
  "login.revoke_all": "done",
  "invite.list": "invites",
  "invite.create": "new_invite",
  "invite.revoke": "done",
  "observer.list": "observers",
  "observer.create": "new_observer",
  "observer.revoke": "done",
  "runner.list": "runners",
  "runner.create": "new_runner",
  "runner.remove": "done",
  "session.list": "sessions",
  "session.show": "session_detail",
  "session.spawn": "session",
  "session.stop": "session",
  "session.resume": "session",
  "session.send": "done",
  "session.log": "session_log",
  "workspace.list": "workspaces",
  "workspace.show": "workspace",
  "workspace.diff": "workspace_diff",
  "workspace.saves": "saves",
  "workspace.restore": "done",
  "workspace.clean": "done",
  "recording.list": "sessions",
  "recording.show": "recording_detail",
  "recording.part": "recording_part",
  "recording.search": "recording_hits",
  "recording.keep": "session",
  "audit.list": "audit",
  "presence.list": "presence",
} as const satisfies Record<Verb, Answer["kind"]>;

type ValueOf<A> = A extends { value: infer V } ? V : undefined;

/** The value that a verb answers with. */
export type AnswerTo<V extends Verb> = ValueOf<Extract<Answer, { kind: (typeof ANSWER_KIND)[V] }>>;

/** The call of one verb. */
export type CallOf<V extends Verb> = Extract<Call, { verb: V }>;
