/** A hue for an id, so that a person has the same colour everywhere. */
export function hueOf(id: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < id.length; at++) hash = Math.imul(hash ^ id.charCodeAt(at), 0x01000193) >>> 0;
  // Few hues with large distances, so that a team is easy to tell apart.
  return ((hash ^ (hash >>> 15)) % 24) * 15;
}
