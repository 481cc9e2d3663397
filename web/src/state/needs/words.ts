import type { AnswerAct, EscalationKind } from "../../protocol";

/** The actions that answer an escalation. */
export const ACT: Record<AnswerAct, { word: string; meaning: string }> = {
  accept: { word: "Accept", meaning: "Accepts the report." },
  retry: { word: "Retry", meaning: "A worker gets the task again, with your message." },
  tell: { word: "Answer", meaning: "The worker continues with your answer." },
  fail: { word: "Mark failed", meaning: "The task fails. Dependent tasks stay blocked." },
  cancel: { word: "Cancel task", meaning: "The task is cancelled. Dependent tasks stay blocked." },
};

/** The kinds of escalations. */
export const ESCALATION: Record<EscalationKind, { short: string; meaning: string }> = {
  question: { short: "Question", meaning: "A worker has a question and continues with your answer." },
  gave_up: { short: "Agent is stuck", meaning: "An agent is stuck and asks a person." },
  refused: { short: "Rejected", meaning: "The reports were rejected too often." },
  stuck: { short: "No progress", meaning: "Repeated attempts changed nothing." },
  review: { short: "Needs review", meaning: "A person must review and approve the changes." },
  judgement: { short: "Needs review", meaning: "A person must review a criterion." },
  same_lines: { short: "Conflict", meaning: "Two tasks change the same lines." },
  contradiction: { short: "Contradiction", meaning: "The results of two tasks contradict each other." },
  uncheckable: { short: "Cannot check", meaning: "No runner can check the acceptance criteria." },
  outage: {
    short: "Agent outage",
    meaning: "An agent does not work on a runner because of its provider, its login or a failed start.",
  },
};
