import type { AnswerAct, Escalation, EscalationKind } from "../../protocol";
import { ACT } from "./words";

/** A button that answers an escalation. */
export type Choice = {
  word: string;
  means: string;
  /** What it does. */
  does: AnswerAct;
  /** Whether it is one of the hub's options, which are identified by their label. */
  offered: boolean;
  /** Whether it is the default. */
  primary: boolean;
};

// The default by kind. Conflicts and uncheckable criteria have none.
const LIKELY: Partial<Record<EscalationKind, AnswerAct>> = {
  question: "tell",
  gave_up: "retry",
  refused: "retry",
  stuck: "retry",
  judgement: "accept",
  review: "accept",
};

/** Whether an escalation with options also accepts a free text. */
export function isFree({ kind, options }: Pick<Escalation, "kind" | "options">): boolean {
  return kind === "question" && options.length > 0;
}

/** The buttons that answer an escalation, at most one of them primary. */
export function choicesOf(escalation: Pick<Escalation, "kind" | "options">): Choice[] {
  const { kind, options } = escalation;
  const offered = options.length > 0;
  const all = offered
    ? options.map(({ label, act }) => ({ word: label, does: act }))
    : actsOf(kind).map((act) => ({ word: ACT[act].word, does: act }));
  const likely = isFree(escalation) ? -1 : all.findIndex(({ does }) => does === LIKELY[kind]);
  return all.map((one, at) => ({ ...one, means: ACT[one.does].meaning, offered, primary: at === likely }));
}

// The actions for a kind, when the hub offers no options.
function actsOf(kind: EscalationKind): AnswerAct[] {
  if (kind === "question") return ["tell", "retry", "fail", "cancel"];
  if (kind === "gave_up" || kind === "stuck") return ["retry", "fail", "cancel"];
  return ["accept", "retry", "fail", "cancel"];
}

/** The actions that the open escalations of a task offer, so that the task need not. */
export function actsOffered(open: readonly Pick<Escalation, "kind" | "options">[]): ReadonlySet<AnswerAct> {
  return new Set(open.flatMap(choicesOf).map((choice) => choice.does));
}

/** An escalation or an approval. */
export type Asked = Pick<Escalation, "id" | "created_at" | "answered_at">;

/** Open requests, oldest first, together with those answered while the page was open, so that nothing moves. */
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

/** The request after another one, which may already be answered; the first after the last. */
export function nextOf<T extends Asked>(open: readonly T[], after: T | undefined): T | undefined {
  const at = open.findIndex((one) => one.id === after?.id);
  const next = at < 0 ? open.find((one) => after && one.created_at >= after.created_at) : open[at + 1];
  return next ?? open[0];
}

/** The answer, to follow the name of the person. */
export function answerTold({ answered_by, act, answer }: Escalation): string {
  const did = act && answered_by ? ` (${ACT[act].word.toLowerCase()})` : "";
  return `${did}${answer ? `: ${answer}` : ""}`;
}

/** A task's title, or its id when the title is unknown. */
export function otherName(id: string, title: string | undefined): string {
  return title ? `“${title}”` : id;
}
