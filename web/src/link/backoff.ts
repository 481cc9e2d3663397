const FIRST_MS = 500;
const LONGEST_MS = 20_000;

/** How long to wait before try number `attempt` (from 1): doubling, with half of it random so that pages do not return in step. */
export function backoff(attempt: number, random: () => number = Math.random): number {
  const ceiling = Math.min(LONGEST_MS, FIRST_MS * 2 ** Math.min(attempt - 1, 10));
  return Math.round(ceiling / 2 + (ceiling / 2) * random());
}
