/** A persistent map that is cheap to update: few recent entries over many old ones. */
export type Layered<K, V> = { base: ReadonlyMap<K, V>; recent: ReadonlyMap<K, V> };

/** Maximum number of recent entries before they are merged. */
const MOST = 256;

/** An empty layered map. */
export function layered<K, V>(): Layered<K, V> {
  return { base: new Map(), recent: new Map() };
}

/** The value of a key. */
export function look<K, V>(map: Layered<K, V>, key: K): V | undefined {
  return map.recent.get(key) ?? map.base.get(key);
}

/** The map with some entries set; the cost depends on the number of recent entries only. */
export function putAll<K, V>(map: Layered<K, V>, entries: readonly (readonly [K, V])[]): Layered<K, V> {
  if (entries.length === 0) return map;
  if (map.recent.size + entries.length <= MOST) {
    const recent = new Map(map.recent);
    for (const [key, value] of entries) recent.set(key, value);
    return { base: map.base, recent };
  }
  // An existing key keeps its place in the order.
  const base = new Map(map.base);
  for (const [key, value] of map.recent) base.set(key, value);
  for (const [key, value] of entries) base.set(key, value);
  return { base, recent: new Map() };
}

/** All values: old keys in their order, then new ones. */
export function* valuesOf<K, V>(map: Layered<K, V>): Generator<V> {
  for (const [key, value] of map.base) yield map.recent.get(key) ?? value;
  for (const [key, value] of map.recent) if (!map.base.has(key)) yield value;
}

/** The number of entries. */
export function sizeOfLayers<K, V>(map: Layered<K, V>): number {
  let size = map.base.size;
  for (const key of map.recent.keys()) if (!map.base.has(key)) size += 1;
  return size;
}
