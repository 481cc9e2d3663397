/** The card of an element in it. */
export function cardAt(target: EventTarget | null): { id: string; row: HTMLElement } | null {
  const slot = target instanceof Element ? target.closest<HTMLElement>("[data-task]") : null;
  const row = slot?.querySelector<HTMLElement>("a[data-row]");
  return slot?.dataset.task && row ? { id: slot.dataset.task, row } : null;
}

function rowsIn(column: Element | null | undefined): HTMLElement[] {
  return [...(column?.querySelectorAll<HTMLElement>("a[data-row]") ?? [])];
}

/** Focuses the next or previous card in the column; null at its end. */
export function step(row: HTMLElement, by: number): HTMLElement | null {
  const rows = rowsIn(row.closest("[data-column]"));
  const next = rows[rows.indexOf(row) + by];
  next?.focus({ preventScroll: true });
  next?.scrollIntoView({ block: "nearest" });
  return next ?? null;
}

/** Focuses a card in the next column with cards, at about the same height. */
export function cross(board: HTMLElement, row: HTMLElement, by: number): void {
  const all = [...board.querySelectorAll("[data-column]")];
  const top = row.getBoundingClientRect().top;
  for (let at = all.findIndex((one) => one.contains(row)) + by; at >= 0 && at < all.length; at += by) {
    const near = rowsIn(all[at]).sort(
      (a, b) => Math.abs(a.getBoundingClientRect().top - top) - Math.abs(b.getBoundingClientRect().top - top),
    )[0];
    if (!near) continue;
    near.focus({ preventScroll: true });
    near.scrollIntoView({ block: "nearest", inline: "nearest" });
    return;
  }
}

/** Focuses a card again that lost the focus because it moved. */
export function refocus(board: HTMLElement, task: string): void {
  if (document.activeElement !== document.body) return;
  const row = board.querySelector<HTMLElement>(`[data-task="${CSS.escape(task)}"] a[data-row]`);
  row?.focus({ preventScroll: true });
  row?.scrollIntoView({ block: "nearest", inline: "nearest" });
}
