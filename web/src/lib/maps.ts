/** The map with one entry set. */
export function put<K, V>(map: ReadonlyMap<K, V>, key: K, value: V): ReadonlyMap<K, V> {
  return new Map(map).set(key, value);
}

/** The map with these values set by id. */
export function putAll<V extends { id: string }>(
  map: ReadonlyMap<string, V>,
  values: readonly V[],
): ReadonlyMap<string, V> {
  const next = new Map(map);
  for (const value of values) next.set(value.id, value);
  return next;
}

/** The map without one entry; the same map when there is none. */
export function without<K, V>(map: ReadonlyMap<K, V>, key: K): ReadonlyMap<K, V> {
  if (!map.has(key)) return map;
  const next = new Map(map);
  next.delete(key);
  return next;
}

/** The map without the entries that match; the same map when none does. */
export function dropWhere<K, V>(map: ReadonlyMap<K, V>, match: (value: V) => boolean): ReadonlyMap<K, V> {
  const next = new Map([...map].filter(([, value]) => !match(value)));
  return next.size === map.size ? map : next;
}

/** Makes a switch over a union exhaustive: a new member is a type error. */
export function unreachable(value: never, fallback?: unknown): never {
  if (fallback !== undefined) return fallback as never;
  throw new Error(`not expected: ${JSON.stringify(value)}`);
}

/** The values by key, in order. */
export function group<K, V>(values: Iterable<V>, keyOf: (value: V) => K): Map<K, V[]> {
  const groups = new Map<K, V[]>();
  for (const value of values) {
    const key = keyOf(value);
    const known = groups.get(key);
    if (known) known.push(value);
    else groups.set(key, [value]);
  }
  return groups;
}
