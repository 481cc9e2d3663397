import { recall, remember } from "../../lib/storage";

/** A filter that a person named: what follows the `?` of the board's URL. */
export type SavedFilter = { name: string; search: string };

/** Maximum number of filters per project, and of letters of a name. */
export const MOST_FILTERS = 30;
export const LONGEST_NAME = 60;

/** The filters with a new one, by name; one of the same name is replaced. */
export function withFilter(all: readonly SavedFilter[], name: string, search: string): SavedFilter[] {
  const key = name.trim().slice(0, LONGEST_NAME);
  if (!key) return [...all];
  const others = withoutFilter(all, key);
  return [...others, { name: key, search }]
    .sort((a, b) => a.name.localeCompare(b.name, "en"))
    .slice(0, MOST_FILTERS);
}

/** The filters without one; case does not matter. */
export function withoutFilter(all: readonly SavedFilter[], name: string): SavedFilter[] {
  return all.filter((one) => one.name.toLowerCase() !== name.trim().toLowerCase());
}

/** Reads stored filters; anything else in the storage is ignored. */
export function parseFilters(text: string | null): SavedFilter[] {
  try {
    const read: unknown = JSON.parse(text ?? "[]");
    if (!Array.isArray(read)) return [];
    return read.flatMap((one: unknown) => {
      const { name, search } = (one ?? {}) as { name?: unknown; search?: unknown };
      return typeof name === "string" && name && typeof search === "string" ? [{ name, search }] : [];
    });
  } catch {
    return [];
  }
}

/** A person's filters in a project, from this browser. */
export function recallFilters(person: string, project: string): SavedFilter[] {
  return parseFilters(recall(nameOf(person, project)));
}

/** Stores a person's filters in a project, in this browser. */
export function rememberFilters(person: string, project: string, all: readonly SavedFilter[]): void {
  remember(nameOf(person, project), all.length > 0 ? JSON.stringify(all) : null);
}

function nameOf(person: string, project: string): string {
  return `filters.${person}.${project}`;
}
