import type { AnswerAct, EscalationKind } from "../../protocol";

/** What an answer does. */
export const ACT: Record<AnswerAct, { word: string; meaning: string }> = {
  accept: { word: "Accept", meaning: "The report is accepted as it is." },
  retry: { word: "Try again", meaning: "A worker gets the task again, with your answer." },
  tell: { word: "Answer", meaning: "The worker that asks is told, and goes on." },
  fail: { word: "Let it fail", meaning: "The task fails; what depends on it stays blocked." },
  cancel: { word: "Cancel the task", meaning: "Nobody works on it any more." },
};

/** Why a person is asked, in a word or two and in a sentence. */
export const ESCALATION: Record<EscalationKind, { short: string; meaning: string }> = {
  question: { short: "Question", meaning: "A worker asks and goes on with your answer." },
  gave_up: { short: "Given up", meaning: "A worker gave the task up to a person." },
  refused: { short: "Refused", meaning: "The work was refused too often." },
  stuck: { short: "Stuck", meaning: "Nothing changes however often it is tried." },
  judgement: { short: "Judge", meaning: "Only a person can say whether this is good." },
  same_lines: { short: "Same lines", meaning: "Two outputs change the same lines." },
  contradiction: { short: "Contradiction", meaning: "Two outputs contradict each other." },
  uncheckable: { short: "Uncheckable", meaning: "The acceptance cannot be checked anywhere." },
  outage: {
    short: "Agent cannot work",
    meaning: "An agent cannot work on a machine: its provider, its login or its start.",
  },
};
