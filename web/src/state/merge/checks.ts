import type { MergeCommand } from "../../protocol";
import { lineOf, readLine } from "../execution/agents";

/** The time limit of a new check, in seconds; the same as on the command line. */
export const USUAL_SECONDS = 1800;
const MOST_SECONDS = 86_400;

/** A check in the form: the command as a quoted line, and its own time limit. */
export type CheckDraft = { line: string; seconds: string };

/** The checks as the form shows them. */
export function draftsOf(checks: readonly MergeCommand[]): CheckDraft[] {
  return checks.map(({ argv, seconds }) => ({ line: lineOf(argv), seconds: String(seconds) }));
}

/** Why a check cannot be saved; null if it can. */
export function problemOf({ line, seconds }: CheckDraft): string | null {
  if (!line.trim()) return null;
  if (readLine(line).open) return "A quote is not closed.";
  const limit = Number(seconds);
  if (!/^\d+$/u.test(seconds.trim()) || limit < 1 || limit > MOST_SECONDS)
    return `The time limit is 1 to ${MOST_SECONDS.toLocaleString("en")} seconds.`;
  return null;
}

const OPERATORS = /^(?:&&?|\|\|?|;|[0-9]*[<>]+.*)$/u;

/** A warning about shell syntax, which is passed on as arguments; null without any. */
export function adviceOf({ line }: CheckDraft): string | null {
  const { argv, bare } = readLine(line);
  const found = argv.find((word, at) => bare[at] && OPERATORS.test(word));
  return found === undefined
    ? null
    : `${found} is passed to the command as it is. For shell syntax, write: sh -c '…'`;
}

/** The checks of the form, without empty rows; null if one cannot be saved. */
export function checksOf(drafts: readonly CheckDraft[]): MergeCommand[] | null {
  if (drafts.some((draft) => problemOf(draft) !== null)) return null;
  return drafts
    .filter(({ line }) => line.trim())
    .map(({ line, seconds }) => ({ argv: readLine(line).argv, seconds: Number(seconds) }));
}
