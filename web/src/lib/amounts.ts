const UNITS = ["B", "kB", "MB", "GB", "TB"];

/** A size in bytes, rounded, with a unit. */
export function sizeOf(bytes: number): string {
  let value = bytes;
  let unit = 0;
  while (value >= 1000 && unit < UNITS.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return `${unit === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${UNITS[unit]}`;
}

/** A count, capped as `50+`. */
export function countOf(count: number, most: number): string {
  return count > most ? `${most}+` : String(count);
}

/** A number of tokens, rounded. */
export function tokensOf(count: number): string {
  if (count < 1_000) return String(count);
  if (count < 1_000_000) return `${(count / 1_000).toFixed(count < 10_000 ? 1 : 0)}k`;
  return `${(count / 1_000_000).toFixed(count < 10_000_000 ? 2 : 1)}M`;
}

/** An amount of money, from millionths of a dollar. */
export function costOf(micros: number): string {
  const dollars = micros / 1_000_000;
  return `$${dollars.toFixed(dollars > 0 && dollars < 0.1 ? 4 : 2)}`;
}

/** A duration as `h:mm:ss`. */
export function lengthOf(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1_000));
  const [hours, minutes] = [Math.floor(seconds / 3_600), Math.floor(seconds / 60) % 60];
  const tail = `${String(minutes).padStart(hours > 0 ? 2 : 1, "0")}:${String(seconds % 60).padStart(2, "0")}`;
  return hours > 0 ? `${hours}:${tail}` : tail;
}

/** Hundredths as a decimal number. */
export function hundredths(value: number): string {
  return (value / 100).toFixed(2);
}
