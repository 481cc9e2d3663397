/** A hue for an id: the same everywhere, so that a person is recognised by colour. */
export function hueOf(id: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < id.length; at++) hash = Math.imul(hash ^ id.charCodeAt(at), 0x01000193) >>> 0;
  // Few, well apart: a team of a dozen is told apart at a glance.
  return ((hash ^ (hash >>> 15)) % 24) * 15;
}
