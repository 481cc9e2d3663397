let now = $state(Date.now());

setInterval(() => {
  if (document.visibilityState === "visible") now = Date.now();
}, 1_000);

let coarse = $state(Date.now());

setInterval(() => {
  if (document.visibilityState === "visible") coarse = Date.now();
}, 15_000);

/** The time, by the second; only for what counts seconds. */
export function seconds(): number {
  return now;
}

/** The time, often enough for "3m ago". */
export function moments(): number {
  return coarse;
}
