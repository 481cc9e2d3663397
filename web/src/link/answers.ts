import type { Answer, Call } from "../protocol";
import type { ANSWER_KIND } from "../protocol/verbs";

/** Every verb of the protocol. */
export type Verb = Call["verb"];

type ValueOf<A> = A extends { value: infer V } ? V : undefined;

/** The value that a verb answers with. */
export type AnswerTo<V extends Verb> = ValueOf<Extract<Answer, { kind: (typeof ANSWER_KIND)[V] }>>;

/** The call of one verb. */
export type CallOf<V extends Verb> = Extract<Call, { verb: V }>;
