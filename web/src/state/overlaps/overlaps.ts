import type {
  ActivityId,
  WorkOverlap,
  OverlapId,
  OverlapKind,
  OverlapPlace,
  OverlapSide,
  ProjectId,
} from "../../protocol";
import { put, without } from "../../lib/maps";
import { count } from "../../lib/plural";

/** The overlaps after one has appeared, changed or ended. */
export function overlapped(
  known: ReadonlyMap<OverlapId, WorkOverlap>,
  overlap: WorkOverlap,
): ReadonlyMap<OverlapId, WorkOverlap> {
  return overlap.ended_at === null ? put(known, overlap.id, overlap) : without(known, overlap.id);
}

/** Whether git cannot merge the two. */
export function conflicts(kind: OverlapKind): boolean {
  return kind === "same_lines" || kind === "contradiction" || kind === "base";
}

/** An overlap from one side; a conflict with the base branch has no other one. */
export type Met = { overlap: WorkOverlap; mine: OverlapSide; theirs: OverlapSide | null };

/** The overlaps of an activity, conflicts first. */
export function overlapsOf(known: ReadonlyMap<OverlapId, WorkOverlap>, activity: ActivityId): Met[] {
  return [...known.values()]
    .flatMap((overlap): Met[] => {
      if (overlap.one.activity === activity) return [{ overlap, mine: overlap.one, theirs: overlap.other }];
      if (overlap.other?.activity === activity)
        return [{ overlap, mine: overlap.other, theirs: overlap.one }];
      return [];
    })
    .sort((a, b) => {
      const severe = Number(conflicts(b.overlap.kind)) - Number(conflicts(a.overlap.kind));
      return severe || (a.overlap.since < b.overlap.since ? 1 : -1);
    });
}

/** What the floor says about a project's overlaps: only conflicts. */
export function signOf(known: ReadonlyMap<OverlapId, WorkOverlap>, project: ProjectId): string | null {
  const found = [...known.values()].filter((one) => one.project === project && conflicts(one.kind));
  return found.length > 0 ? `${count(found.length, "conflict")} ahead` : null;
}

/** How the work meets, in words. */
export const OVERLAP_WORD: Record<OverlapKind, string> = {
  same_file: "Same file",
  renamed_under: "Renamed",
  same_symbol: "Same symbol",
  same_lines: "Will conflict",
  contradiction: "Will conflict",
  base: "Conflicts with its base",
};

/** What the work meets: another activity, or a branch. */
export function nameOf({ overlap, theirs }: Met): string {
  return theirs?.name ?? overlap.base ?? "";
}

/** A place as a person reads it: calc.py:3-5, or Parser::next in parser.rs. */
export function placeOf({ path, first, last, symbol }: OverlapPlace): string {
  if (symbol) return `${symbol} in ${path}`;
  if (first === null) return path;
  return first === last || last === null ? `${path}:${first}` : `${path}:${first}-${last}`;
}
