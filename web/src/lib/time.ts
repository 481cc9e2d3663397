const UNITS: [Intl.RelativeTimeFormatUnit, number][] = [
  ["year", 365 * 86_400],
  ["month", 30 * 86_400],
  ["week", 7 * 86_400],
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
];

const relativeFormat = new Intl.RelativeTimeFormat("en", { numeric: "always", style: "narrow" });
const absoluteFormat = new Intl.DateTimeFormat(undefined, { dateStyle: "full", timeStyle: "medium" });
const clockFormat = new Intl.DateTimeFormat(undefined, {
  hour: "2-digit",
  minute: "2-digit",
  hourCycle: "h23",
});

/** A time relative to now, such as `3h ago`. */
export function relative(at: number, now: number): string {
  const seconds = Math.round((at - now) / 1000);
  for (const [unit, size] of UNITS) {
    if (Math.abs(seconds) >= size) return relativeFormat.format(Math.trunc(seconds / size), unit);
  }
  return seconds > 5 ? `in ${seconds}s` : seconds < -5 ? `${-seconds}s ago` : "just now";
}

/** A time with its full date. */
export function absolute(at: number): string {
  return absoluteFormat.format(at);
}

/** The time of day. */
export function clock(at: number): string {
  return clockFormat.format(at);
}

/** A day, such as `Yesterday`. */
export function dayName(at: number, now: number): string {
  const days = Math.round((startOfDay(now) - startOfDay(at)) / 86_400_000);
  if (days === 0) return "Today";
  if (days === 1) return "Yesterday";
  const year = new Date(at).getFullYear() === new Date(now).getFullYear() ? undefined : "numeric";
  return new Intl.DateTimeFormat(undefined, { weekday: "long", day: "numeric", month: "long", year }).format(
    at,
  );
}

function startOfDay(at: number): number {
  return new Date(at).setHours(0, 0, 0, 0);
}

/** A duration in one or two units. */
export function spanOf(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  const seconds = ms / 1_000;
  if (seconds < 60) return `${seconds.toFixed(seconds < 10 ? 1 : 0)} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${Math.floor(seconds % 60)} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** The duration of something ongoing, such as `for 4 min`. */
export function lasting(ms: number): string {
  const minutes = Math.floor(ms / 60_000);
  if (minutes < 1) return "for a moment";
  if (minutes < 60) return `for ${minutes} min`;
  const hours = Math.floor(minutes / 60);
  return hours < 24
    ? `for ${hours} h ${minutes % 60} min`
    : `for ${Math.floor(hours / 24)} d ${hours % 24} h`;
}
