import { clock } from "../../lib/time";
import type {
  ActivityId,
  OverlapKind,
  OverlapPlace,
  Reservation,
  ReservationId,
  WorkspaceId,
} from "../../protocol";
import type { Met } from "./overlaps";

/** How the work meets, in words. */
const OVERLAP_WORD: Record<OverlapKind, string> = {
  declared: "Reserved",
  same_file: "Same file",
  renamed_under: "Renamed",
  same_symbol: "Same symbol",
  same_lines: "Will conflict",
  contradiction: "Will conflict",
  base: "Conflicts with its base",
};

/** A place as a person reads it: calc.py:3-5, or Parser::next in parser.rs. */
export function placeOf({ path, first, last, symbol }: OverlapPlace): string {
  if (symbol) return `${symbol} in ${path}`;
  if (first === null) return path;
  return first === last || last === null ? `${path}:${first}` : `${path}:${first}-${last}`;
}

/** How two sides meet, in words. */
export function wordOf({ overlap: { kind, one, other } }: Met): string {
  return kind === "declared" && (one.task ?? other?.task) ? "Planned" : OVERLAP_WORD[kind];
}

/** The reservations of an activity, those that end first first. */
export function reservedBy(
  known: ReadonlyMap<ReservationId, Reservation>,
  activity: ActivityId,
): Reservation[] {
  return [...known.values()]
    .filter((one) => one.activity === activity)
    .sort((a, b) => (a.expires_at < b.expires_at ? -1 : 1));
}

/** What the other side of an overlap declares, or does with what this side declares; null if both only change files. */
export function declaredOf({ mine, theirs }: Met): string | null {
  if (!theirs) return null;
  if (theirs.until) return `Reserved by ${theirs.name} until ${at(theirs.until)}`;
  if (theirs.task) return `A running task of ${theirs.name} names the same files`;
  if (mine.until) return `${theirs.name} changes files that are reserved here until ${at(mine.until)}`;
  if (mine.task) return `${theirs.name} changes files that a running task names here`;
  return null;
}

/** The workspaces to compare; null if one side has changed nothing yet. */
export function comparable({ mine, theirs }: Met): { mine: WorkspaceId; theirs: WorkspaceId } | null {
  return mine.workspace && theirs?.workspace ? { mine: mine.workspace, theirs: theirs.workspace } : null;
}

/** How long files can be reserved. */
export const SPANS = [
  { seconds: 1800, name: "30 minutes" },
  { seconds: 7200, name: "2 hours" },
  { seconds: 28_800, name: "8 hours" },
  { seconds: 86_400, name: "24 hours" },
] as const;

/** The patterns in a text, one on each line. */
export function patternsIn(text: string): string[] {
  return text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
}

function at(time: string): string {
  return clock(Date.parse(time));
}
