/** The state of the connection to the hub. `staleSince` is when the page was last up to date. */
export type Connection =
  | { phase: "connecting"; staleSince: number | null }
  | { phase: "catching_up"; staleSince: number | null }
  | { phase: "live" }
  | { phase: "waiting"; staleSince: number | null; retryAt: number }
  | { phase: "offline"; staleSince: number | null }
  | { phase: "ended"; staleSince: number | null }
  | { phase: "outdated"; staleSince: number | null };
