import type { Answered, Approval, ApprovalKind, RunnerPolicy, Session, WrittenBy } from "../../protocol";
import type { Floor } from "../hub/floor";

/** What kind of thing would run, in a word or two, and what that is. */
export const APPROVAL: Record<ApprovalKind, { word: string; meaning: string }> = {
  session: { word: "Session", meaning: "Somebody else asks for a session on your runner." },
  repository: { word: "Repository", meaning: "Your runner would read this repository or folder." },
  copy: { word: "Copied files", meaning: "Your runner would copy these files into a workspace." },
  setup: { word: "Setup command", meaning: "This command prepares a workspace." },
  teardown: { word: "Teardown command", meaning: "This command runs before a workspace is deleted." },
  settings: {
    word: "Settings",
    meaning: "Hooks, MCP servers or tasks in the repository, which agents, editors or git would run.",
  },
  command: { word: "Acceptance command", meaning: "This command checks the work on a task." },
  code: { word: "Code", meaning: "Code of somebody else, which the checks of a task would run." },
};

/** What a runner runs of other people's text without asking its owner. */
export const POLICY: Record<RunnerPolicy, { word: string; meaning: string }> = {
  ask: { word: "Ask me", meaning: "Nothing runs until you allow it." },
  "project-owner": {
    word: "Trust project owners",
    meaning: "What the owner of a project wrote runs. You are asked about everything else.",
  },
  writers: {
    word: "Trust everybody who can write",
    meaning: "What people with write access to a project wrote runs, and what their agents wrote.",
  },
  "sandbox-only": {
    word: "Sandbox only",
    meaning: "Everything runs, in a sandbox. You are asked before a repository of somebody else is read.",
  },
};

/** Every policy, in the order in which it is offered. */
export const POLICIES = Object.keys(POLICY) as RunnerPolicy[];

/** One way to answer, as a button has it. */
export type ApprovalChoice = { answer: Answered; word: string; means: string };

/** Who wrote something: a person, or an agent on their behalf. */
export function writerOf(floor: Floor, by: WrittenBy): string {
  const name = floor.users.get(by.user.id)?.name ?? by.user.name;
  return by.agent === null ? name : `an agent of ${name}`;
}

/** The same, for everything that they write. */
export function writersOf(floor: Floor, by: WrittenBy): string {
  const name = floor.users.get(by.user.id)?.name ?? by.user.name;
  return by.agent === null ? name : `agents of ${name}`;
}

/** What may run now, as the buttons offer it: what was read, or this time only. Code changes with every commit. */
export function allowances({ kind }: Pick<Approval, "kind">): ApprovalChoice[] {
  const once = {
    answer: "once",
    word: "Allow once",
    means: "It runs for this session or check. You are asked again the next time.",
  } as const;
  if (kind === "code") return [once];
  const text = {
    answer: "text",
    word: "Allow this text",
    means: "This exact text runs in this project from now on. Any change of it is asked about.",
  } as const;
  return [text, once];
}

/** What was answered. */
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
      return "Nobody needs to answer: what waited for it is over";
  }
}

/** Whether it would run in a sandbox; reading a repository happens outside of one, whatever was chosen. */
export function isContained({ kind, sandbox }: Pick<Approval, "kind" | "sandbox">): boolean {
  return sandbox && kind !== "repository" && kind !== "copy";
}

/** How many bytes of a text the runner sends at most. */
const SHOWN = 32 * 1024;

/** Whether the end of a text is missing: what was sent is as long as can be. */
export function isCut(text: string): boolean {
  // The runner cuts at a whole character, of at most four bytes.
  return new TextEncoder().encode(text).length > SHOWN - 4;
}

/** A text in parts, so that letters without any width can be seen. */
export function visibly(text: string): { text: string; hidden: boolean }[] {
  return text
    .split(/((?!\ufe0f)\p{Default_Ignorable_Code_Point})/u)
    .map((part, at) => ({ text: at % 2 === 1 ? codeOf(part) : part, hidden: at % 2 === 1 }))
    .filter((part) => part.text !== "");
}

function codeOf(letter: string): string {
  return `U+${(letter.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`;
}

/** The requests to this person that nobody has answered, longest first. */
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

/** Whether a session waits because of what its owner was asked to allow, also in the moment after the answer. */
export function waitsForApproval(floor: Floor, { id, state }: Pick<Session, "id" | "state">): boolean {
  if (state.status !== "waiting") return false;
  for (const one of floor.approvals.values())
    if (one.session === id && (one.answered_at === null || one.answered_at >= state.since)) return true;
  return false;
}

// How a runner begins what a session waits for when its owner must allow something.
const MUST_ALLOW = "the runner's owner must allow ";

/** What a session waits for when that is its owner's approval, in words for who reads it. */
export function approvalDetail(
  floor: Floor,
  { owner, state }: Pick<Session, "owner" | "state">,
): string | null {
  if (state.status !== "waiting" || !state.detail?.startsWith(MUST_ALLOW)) return null;
  if (owner.id === floor.me?.user?.id) return "It starts when you allow it";
  return `It starts when ${floor.users.get(owner.id)?.name ?? owner.name} allows it`;
}

/** Which of the requests have not been told yet. */
export function newApprovals(told: ReadonlySet<string>, open: readonly Approval[]): Approval[] {
  return open.filter((one) => !told.has(one.id));
}
