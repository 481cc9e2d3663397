import type { AnswerAct, Escalation, EscalationKind } from "../../protocol";
import { ACT } from "./words";

/** One way to answer, as a button has it. */
export type Choice = {
  word: string;
  means: string;
  /** What it does. */
  does: AnswerAct;
  /** Whether it is one of the hub's options, which are chosen by their word. */
  offered: boolean;
  /** Whether it is what most people will want. */
  primary: boolean;
};

// What is likely right by why somebody is asked. Where two outputs meet, or nothing could be checked, nothing is.
const LIKELY: Partial<Record<EscalationKind, AnswerAct>> = {
  question: "tell",
  gave_up: "retry",
  refused: "retry",
  stuck: "retry",
  judgement: "accept",
};

/** Whether an escalation is answered in words that nobody thought of, beside its options. */
export function isFree({ kind, options }: Pick<Escalation, "kind" | "options">): boolean {
  return kind === "question" && options.length > 0;
}

/** The ways to answer an escalation, at most one of them primary. */
export function choicesOf(escalation: Pick<Escalation, "kind" | "options">): Choice[] {
  const { kind, options } = escalation;
  const offered = options.length > 0;
  const all = offered
    ? options.map(({ label, act }) => ({ word: label, does: act }))
    : actsOf(kind).map((act) => ({ word: ACT[act].word, does: act }));
  const likely = isFree(escalation) ? -1 : all.findIndex(({ does }) => does === LIKELY[kind]);
  return all.map((one, at) => ({ ...one, means: ACT[one.does].meaning, offered, primary: at === likely }));
}

// Where the hub offers no way, each act that fits the kind is one.
function actsOf(kind: EscalationKind): AnswerAct[] {
  if (kind === "question") return ["tell", "retry", "fail", "cancel"];
  if (kind === "gave_up" || kind === "stuck") return ["retry", "fail", "cancel"];
  return ["accept", "retry", "fail", "cancel"];
}

/** What a task's own buttons need not offer, because the answers to what is asked about it do. */
export function actsOffered(open: readonly Pick<Escalation, "kind" | "options">[]): ReadonlySet<AnswerAct> {
  return new Set(open.flatMap(choicesOf).map((choice) => choice.does));
}

/** Something that a person is asked: an escalation or a request to run something. */
export type Asked = Pick<Escalation, "id" | "created_at" | "answered_at">;

/** What is asked, oldest first, with what was answered while somebody looked: nothing is gone under the pointer. */
export function inPlace<T extends Asked>(
  known: ReadonlyMap<string, T>,
  open: readonly T[],
  seen: ReadonlySet<string>,
): T[] {
  const answered = [...seen].flatMap((id) => known.get(id) ?? []).filter((one) => one.answered_at !== null);
  return [...open, ...answered].sort((a, b) =>
    a.created_at < b.created_at ? -1 : a.created_at > b.created_at ? 1 : 0,
  );
}

/** The one that comes after another, which may be answered meanwhile; after the last comes the first. */
export function nextOf<T extends Asked>(open: readonly T[], after: T | undefined): T | undefined {
  const at = open.findIndex((one) => one.id === after?.id);
  const next = at < 0 ? open.find((one) => after && one.created_at >= after.created_at) : open[at + 1];
  return next ?? open[0];
}

/** What was answered, after who did. */
export function answerTold({ answered_by, act, answer }: Escalation): string {
  const did = act && answered_by ? ` (${ACT[act].word.toLowerCase()})` : "";
  return `${did}${answer ? `: ${answer}` : ""}`;
}

/** How another task is called: by its title, else by its id. */
export function otherName(id: string, title: string | undefined): string {
  return title ? `“${title}”` : id;
}
