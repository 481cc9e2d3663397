/** What the link to the hub is doing, said honestly. `staleSince` is when the page last knew that it was up to date. */
export type Connection =
  | { phase: "connecting"; staleSince: number | null }
  | { phase: "catching_up"; staleSince: number | null }
  | { phase: "live" }
  | { phase: "waiting"; staleSince: number | null; retryAt: number }
  | { phase: "offline"; staleSince: number | null }
  | { phase: "ended"; staleSince: number | null }
  | { phase: "outdated"; staleSince: number | null };
