import type { Answered, Approval, ApprovalKind, RunnerPolicy, Session, WrittenBy } from "../../protocol";
import type { Floor } from "../hub/floor";

/** The kinds of approvals. */
export const APPROVAL: Record<ApprovalKind, { word: string; meaning: string }> = {
  session: { word: "Session", meaning: "Another person requests a session on your runner." },
  repository: { word: "Repository", meaning: "Your runner would read this repository or folder." },
  copy: { word: "Copied files", meaning: "Your runner would copy these files into a workspace." },
  setup: { word: "Setup command", meaning: "This command prepares a workspace." },
  teardown: { word: "Teardown command", meaning: "This command runs before a workspace is deleted." },
  settings: {
    word: "Settings",
    meaning: "Hooks, MCP servers or tasks in the repository that agents, editors or git would run.",
  },
  command: { word: "Acceptance command", meaning: "This command checks the work on a task." },
  code: { word: "Code", meaning: "Another person's code that the checks of a task would run." },
};

/** What a runner runs without asking its owner. */
export const POLICY: Record<RunnerPolicy, { word: string; meaning: string }> = {
  ask: { word: "Ask me", meaning: "Nothing runs until you allow it." },
  "project-owner": {
    word: "Trust project owners",
    meaning: "Text by the project owner runs. Everything else needs your approval.",
  },
  writers: {
    word: "Trust everyone with write access",
    meaning: "Text by people with write access to the project runs, including text by their agents.",
  },
  "sandbox-only": {
    word: "Sandbox only",
    meaning: "Everything runs in a sandbox. Reading another person's repository needs your approval.",
  },
};

/** All policies, in the order of the form. */
export const POLICIES = Object.keys(POLICY) as RunnerPolicy[];

/** A button that answers an approval. */
export type ApprovalChoice = { answer: Answered; word: string; means: string };

/** The author of a text: a person, or an agent on their behalf. */
export function writerOf(floor: Floor, by: WrittenBy): string {
  const name = floor.users.get(by.user.id)?.name ?? by.user.name;
  return isAgent(by) ? `an agent of ${name}` : name;
}

/** The author in general: a person, or all agents on their behalf. */
export function writersOf(floor: Floor, by: WrittenBy): string {
  const name = floor.users.get(by.user.id)?.name ?? by.user.name;
  return isAgent(by) ? `agents of ${name}` : name;
}

function isAgent({ agent, by_agent }: WrittenBy): boolean {
  return by_agent || agent !== null;
}

/** The buttons that allow: this exact text, or once. Code can only be allowed once, as it changes with every commit. */
export function allowances({ kind }: Pick<Approval, "kind">): ApprovalChoice[] {
  const once = {
    answer: "once",
    word: "Allow once",
    means: "Runs for this session or check. You are asked again next time.",
  } as const;
  if (kind === "code") return [once];
  const text = {
    answer: "text",
    word: "Allow this text",
    means:
      "This exact text always runs in this project, in this sandbox or a tighter one. The files that it runs are not part of it.",
  } as const;
  return [text, once];
}

/** The answer as a sentence. */
export function answerOf(floor: Floor, { answer, author }: Pick<Approval, "answer" | "author">): string {
  switch (answer) {
    case null:
      return "";
    case "once":
      return "Allowed once";
    case "text":
      return "Allowed: this exact text in this project";
    case "author":
      return `Allowed: everything by ${writersOf(floor, author)} in this project`;
    case "denied":
      return "Denied";
    case "policy":
      return "Allowed by the policy of this runner";
    case "granted":
      return "Allowed by an earlier answer";
    case "withdrawn":
      return "No answer needed: the session or task has ended";
  }
}

/** What an approval asks for, without the settings of a requested session. */
export function askedOf({ kind, text }: Pick<Approval, "kind" | "text">): string {
  if (kind !== "session") return text;
  const line = text.split("\n").find((one) => ASKS.test(one));
  return line?.replace(ASKS, "") ?? text;
}

// The runner's line in the text of a requested session.
const ASKS = /^.*? asks(?: to run)?: /u;

/** Whether it would run in a sandbox; runners always read repositories outside the sandbox. */
export function isContained({ kind, sandbox }: Pick<Approval, "kind" | "sandbox">): boolean {
  return sandbox && kind !== "repository" && kind !== "copy";
}

/** What its sandbox leaves open, in words; empty without one. */
export function reachOf({ reach }: Pick<Approval, "reach">): string {
  if (!reach) return "";
  const home = reach.home ? "it reads your home folder" : "it does not see your home folder";
  return `${home}, ${reach.network ? "and reaches the network" : "and has no network"}`;
}

/** A text in parts, with invisible characters replaced by their code points. */
export function visibly(text: string): { text: string; hidden: boolean }[] {
  return text
    .split(/((?!\ufe0f)\p{Default_Ignorable_Code_Point})/u)
    .map((part, at) => ({ text: at % 2 === 1 ? codeOf(part) : part, hidden: at % 2 === 1 }))
    .filter((part) => part.text !== "");
}

function codeOf(letter: string): string {
  return `U+${(letter.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`;
}

/** This person's open approvals, oldest first. */
export function openApprovals(floor: Floor, where: { project?: string; task?: string } = {}): Approval[] {
  return [...floor.approvals.values()]
    .filter(
      (one) =>
        one.answer === null &&
        (where.project === undefined || one.project === where.project) &&
        (where.task === undefined || one.task === where.task),
    )
    .sort((a, b) => (a.created_at < b.created_at ? -1 : a.created_at > b.created_at ? 1 : 0));
}

/** Whether a session waits for an approval, also right after the answer. */
export function waitsForApproval(floor: Floor, { id, state }: Pick<Session, "id" | "state">): boolean {
  if (state.status !== "waiting") return false;
  for (const one of floor.approvals.values())
    if (one.session === id && (one.answered_at === null || one.answered_at >= state.since)) return true;
  return false;
}

// The runner's reasons for sessions that wait for an approval start with this text.
const MUST_ALLOW = "the runner's owner must allow ";

/** The text for a session that waits for its owner's approval. */
export function approvalDetail(
  floor: Floor,
  { owner, state }: Pick<Session, "owner" | "state">,
): string | null {
  if (state.status !== "waiting" || !state.detail?.startsWith(MUST_ALLOW)) return null;
  if (owner.id === floor.me?.user?.id) return "Starts when you allow it";
  return `Starts when ${floor.users.get(owner.id)?.name ?? owner.name} allows it`;
}

/** The approvals without a notification so far. */
export function newApprovals(told: ReadonlySet<string>, open: readonly Approval[]): Approval[] {
  return open.filter((one) => !told.has(one.id));
}
