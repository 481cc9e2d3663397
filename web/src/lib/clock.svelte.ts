let now = $state(Date.now());

setInterval(() => {
  if (document.visibilityState === "visible") now = Date.now();
}, 1_000);

let coarse = $state(Date.now());

setInterval(() => {
  if (document.visibilityState === "visible") coarse = Date.now();
}, 15_000);

/** The current time, updated every second; for countdowns. */
export function seconds(): number {
  return now;
}

/** The current time, updated often enough for "3m ago". */
export function moments(): number {
  // What happened since the last tick is not in the future.
  return Math.max(coarse, Date.now());
}
