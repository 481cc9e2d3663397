/** Reads a stored value; null if there is none or storage is blocked. */
export function recall(name: string, area: "local" | "session" = "local"): string | null {
  try {
    return storage(area).getItem(`shopfloor.${name}`);
  } catch {
    return null;
  }
}

/** Stores a value in this browser; null removes it. Not for secrets. */
export function remember(name: string, value: string | null, area: "local" | "session" = "local"): void {
  try {
    if (value === null) storage(area).removeItem(`shopfloor.${name}`);
    else storage(area).setItem(`shopfloor.${name}`, value);
  } catch {
    // Storage is blocked or full: the page works without it.
  }
}

/** Removes drafts, which the next person at this browser must not see. */
export function forgetDrafts(): void {
  try {
    sessionStorage.clear();
  } catch {
    // Storage is blocked: there are no drafts.
  }
}

function storage(area: "local" | "session"): Storage {
  return area === "local" ? localStorage : sessionStorage;
}
