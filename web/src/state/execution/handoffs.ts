import type { Handoff, HandoffStep } from "../../protocol";
import type { Floor } from "../hub/floor";

/** The steps of a handoff, in order, with what happens in each. */
export const STEPS: readonly { step: HandoffStep; word: string; doing: string }[] = [
  { step: "write", word: "Write the document", doing: "The agent writes the document." },
  { step: "save", word: "Save the work", doing: "The runner saves and commits everything." },
  { step: "publish", word: "Push or keep it", doing: "The saved commit is pushed or kept." },
  { step: "stop", word: "Stop the session", doing: "The session stops." },
  { step: "start", word: "Start the fresh session", doing: "The fresh session starts." },
  {
    step: "acknowledge",
    word: "Acknowledge",
    doing: "The fresh session reads the document and quotes its hash.",
  },
];

/** How a step of a handoff is shown. */
export type StepLook = {
  step: HandoffStep;
  word: string;
  state: "done" | "failed" | "skipped" | "current" | "open";
  detail: string | null;
};

/** The steps of a handoff as a stepper shows them. */
export function stepsOf(handoff: Handoff): StepLook[] {
  const over = handoff.status === "done" || handoff.status === "cancelled";
  return STEPS.map(({ step, word, doing }) => {
    const taken = handoff.steps.findLast((one) => one.step === step);
    if (!over && step === handoff.step) {
      if (handoff.status === "failed") return { step, word, state: "failed", detail: handoff.detail };
      const waits =
        handoff.status === "editing"
          ? "Waits for you to edit the document."
          : needsReader(handoff)
            ? "The fresh session runs no agent: read the document and acknowledge it yourself."
            : step === "write" && !handoff.writes
              ? "The document is made from the recording."
              : doing;
      return { step, word, state: "current", detail: handoff.detail ?? waits };
    }
    if (taken) return { step, word, state: taken.outcome, detail: taken.detail };
    return { step, word, state: "open", detail: null };
  });
}

/** Whether nothing more happens to a handoff. */
export function isOver(handoff: Handoff): boolean {
  return handoff.status === "done" || handoff.status === "cancelled";
}

/** The newest handoff from or to a session, unless it was cancelled. */
export function handoffOf(floor: Pick<Floor, "handoffs">, session: string): Handoff | undefined {
  const found = [...floor.handoffs.values()].filter(
    (one) => (one.session === session || one.successor === session) && one.status !== "cancelled",
  );
  return newestFirst(found)[0];
}

/** The handoffs in an activity, newest first. */
export function handoffsIn(floor: Pick<Floor, "handoffs">, activity: string): Handoff[] {
  return newestFirst([...floor.handoffs.values()].filter((one) => one.activity === activity));
}

function newestFirst(handoffs: Handoff[]): Handoff[] {
  return handoffs.sort((a, b) => (a.id < b.id ? 1 : -1));
}

/** Whether a person may go on without the current step. */
export function canSkip(handoff: Handoff): boolean {
  return !isOver(handoff) && ["write", "save", "publish"].includes(handoff.step);
}

/** Whether a person must acknowledge it, because no agent can. */
export function needsReader(handoff: Handoff): boolean {
  const waits = handoff.status === "running" && handoff.step === "acknowledge";
  return waits && !handoff.reads;
}

/** Whether this person decides about it: the one who hands off, or who takes the task over. */
export function decides(handoff: Handoff, me: string | undefined): boolean {
  return handoff.owner.id === me || (handoff.takes_over && handoff.to.id === me);
}

/** A handoff in a few words. */
export function wordOf(handoff: Handoff): string {
  const { status, step, detail } = handoff;
  if (status === "done") return "Handed off";
  if (status === "cancelled") return "Handoff cancelled";
  if (status === "editing") return "The handoff waits for you to edit its document";
  if (status === "failed") return `The handoff failed: ${detail ?? step}`;
  return `Handing off. ${STEPS.find((one) => one.step === step)?.doing ?? ""}`;
}
