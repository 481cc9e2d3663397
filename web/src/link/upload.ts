import { Failure } from "../lib/failure";
import { problemOf, unreachable } from "./http";

/** The SHA-256 hash of a content, in hexadecimal digits. */
export async function hashOf(bytes: ArrayBuffer): Promise<string> {
  // Browsers hash only for pages of HTTPS and of this machine.
  if (!globalThis.crypto?.subtle) {
    const detail =
      "This browser uploads only over HTTPS. Use `shopfloor artifact put FILE`, or open the page over HTTPS.";
    throw new Failure({ kind: "invalid", status: 0, detail });
  }
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Sends the content of an artifact of a project; returns its hash. */
export async function sendContent(project: string, bytes: ArrayBuffer): Promise<string> {
  const sha256 = await hashOf(bytes);
  const path = `/api/projects/${project}/artifacts/contents/${sha256}`;
  const headers = { Accept: "application/json", "Content-Type": "application/octet-stream" };
  const request: RequestInit = { method: "PUT", headers, credentials: "same-origin", body: bytes };
  const response = await fetch(path, request).catch(() => {
    throw new Failure(unreachable());
  });
  if (!response.ok) throw new Failure(await problemOf(response));
  return sha256;
}
