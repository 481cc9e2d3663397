/** A large map that is cheap to change as a value: few recent entries over many old ones. */
export type Layered<K, V> = { base: ReadonlyMap<K, V>; recent: ReadonlyMap<K, V> };

/** How many recent entries are kept apart before they are folded in. */
const MOST = 256;

/** A layered map with nothing in it. */
export function layered<K, V>(): Layered<K, V> {
  return { base: new Map(), recent: new Map() };
}

/** What a key has. */
export function look<K, V>(map: Layered<K, V>, key: K): V | undefined {
  return map.recent.get(key) ?? map.base.get(key);
}

/** The map with some entries set; costs as much as there are recent ones, not as much as there are entries. */
export function putAll<K, V>(map: Layered<K, V>, entries: readonly (readonly [K, V])[]): Layered<K, V> {
  if (entries.length === 0) return map;
  if (map.recent.size + entries.length <= MOST) {
    const recent = new Map(map.recent);
    for (const [key, value] of entries) recent.set(key, value);
    return { base: map.base, recent };
  }
  // A key that is there keeps its place, so that what is read out stays in order.
  const base = new Map(map.base);
  for (const [key, value] of map.recent) base.set(key, value);
  for (const [key, value] of entries) base.set(key, value);
  return { base, recent: new Map() };
}

/** Every value once: old ones in their order, then those that are new. */
export function* valuesOf<K, V>(map: Layered<K, V>): Generator<V> {
  for (const [key, value] of map.base) yield map.recent.get(key) ?? value;
  for (const [key, value] of map.recent) if (!map.base.has(key)) yield value;
}

/** How many entries there are. */
export function sizeOfLayers<K, V>(map: Layered<K, V>): number {
  let size = map.base.size;
  for (const key of map.recent.keys()) if (!map.base.has(key)) size += 1;
  return size;
}
