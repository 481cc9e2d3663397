const numbers = new Intl.NumberFormat("en");

/** The noun that fits a number: `plural(2, "activity")` is `activities`. Irregular plurals are given. */
export function plural(count: number, one: string, many: string = manyOf(one)): string {
  return count === 1 ? one : many;
}

/** A number with its noun: `1 task`, `1,200 tasks`. */
export function count(count: number, one: string, many?: string): string {
  return `${numbers.format(count)} ${plural(count, one, many)}`;
}

function manyOf(one: string): string {
  if (/[^aeiou]y$/u.test(one)) return `${one.slice(0, -1)}ies`;
  return /(?:s|x|z|ch|sh)$/u.test(one) ? `${one}es` : `${one}s`;
}
