import type { ActivityId, WorkOverlap, OverlapId, OverlapKind, OverlapSide, ProjectId } from "../../protocol";
import { put, without } from "../../lib/maps";
import { count } from "../../lib/plural";

/** The overlaps, or the reservations, after one has appeared, changed or ended. */
export function overlapped<One extends { id: string; ended_at: string | null }>(
  known: ReadonlyMap<string, One>,
  one: One,
): ReadonlyMap<string, One> {
  return one.ended_at === null ? put(known, one.id, one) : without(known, one.id);
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

/** What the work meets: another activity, or a branch. */
export function nameOf({ overlap, theirs }: Met): string {
  return theirs?.name ?? overlap.base ?? "";
}
