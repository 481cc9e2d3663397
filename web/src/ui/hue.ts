/** A hue for an id: the same everywhere, so that a person is recognised by colour. */
export function hueOf(id: string): number {
  let hash = 0;
  for (let at = 0; at < id.length; at++) hash = (Math.imul(hash, 31) + id.charCodeAt(at)) >>> 0;
  return hash % 360;
}
