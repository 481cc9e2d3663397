/** Whether a link works only on this machine, because its host is a loopback address. */
export function isLocal(link: string): boolean {
  const host = URL.canParse(link) ? new URL(link).hostname : "";
  return /^127\.\d+\.\d+\.\d+$/u.test(host) || host === "[::1]" || /(^|\.)localhost$/u.test(host);
}
