/** Reads what this browser remembers; null when there is nothing or storage is blocked. */
export function recall(name: string, area: "local" | "session" = "local"): string | null {
  try {
    return storage(area).getItem(`shopfloor.${name}`);
  } catch {
    return null;
  }
}

/** Remembers something in this browser; null forgets it. Never a secret. */
export function remember(name: string, value: string | null, area: "local" | "session" = "local"): void {
  try {
    if (value === null) storage(area).removeItem(`shopfloor.${name}`);
    else storage(area).setItem(`shopfloor.${name}`, value);
  } catch {
    // Storage is blocked or full: the page works without a memory.
  }
}

/** Forgets what was typed and not sent, which is nobody else's business after a log-out. */
export function forgetDrafts(): void {
  try {
    sessionStorage.clear();
  } catch {
    // Storage is blocked: there is nothing to forget.
  }
}

function storage(area: "local" | "session"): Storage {
  return area === "local" ? localStorage : sessionStorage;
}
