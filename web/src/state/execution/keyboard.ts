import type { Session, UserRef } from "../../protocol";
import { isOver } from "./sessions";

/** Who may type into a session, as one person sees it. */
export type KeyboardView =
  /** An owner whose session nobody else types into or asked to. */
  | { kind: "own" }
  /** An owner who handed the keyboard over. */
  | { kind: "lent"; holder: UserRef; requests: readonly UserRef[] }
  /** An owner whom somebody asked for the keyboard. */
  | { kind: "asked"; requests: readonly UserRef[] }
  /** The person to whom the owner handed the keyboard. */
  | { kind: "held" }
  /** A watcher who waits for the owner's answer. */
  | { kind: "requested"; holder: UserRef | null }
  /** A watcher; observers and people without an account cannot ask. */
  | { kind: "watching"; holder: UserRef | null; mayAsk: boolean };

/** The keyboard of a session for the person `me`; null for a session that is over. */
export function keyboardOf(session: Session, me: string | undefined): KeyboardView | null {
  if (isOver(session)) return null;
  const { holder, requests } = session.keyboard;
  if (session.owner.id === me) {
    if (holder) return { kind: "lent", holder, requests };
    return requests.length > 0 ? { kind: "asked", requests } : { kind: "own" };
  }
  if (me && holder?.id === me) return { kind: "held" };
  if (me && requests.some((one) => one.id === me)) return { kind: "requested", holder };
  return { kind: "watching", holder, mayAsk: me !== undefined };
}

/** The person's sessions for whose keyboards somebody waits. */
export function keyboardRequests(sessions: Iterable<Session>, me: string | undefined): Session[] {
  return [...sessions].filter(
    (session) => session.owner.id === me && !isOver(session) && session.keyboard.requests.length > 0,
  );
}
