const FIRST_MS = 500;
const LONGEST_MS = 20_000;

/** The delay before attempt number `attempt` (from 1): exponential, with jitter so that pages do not reconnect in step. */
export function backoff(attempt: number, random: () => number = Math.random): number {
  const ceiling = Math.min(LONGEST_MS, FIRST_MS * 2 ** Math.min(attempt - 1, 10));
  return Math.round(ceiling / 2 + (ceiling / 2) * random());
}
