import type { Me, Problem } from "../protocol";
import { Failure } from "../lib/failure";

/** The login methods besides links. */
export type SignIn = { github: boolean };

/** The logged-in person, or null. */
export async function whoAmI(): Promise<Me | null> {
  try {
    return await ask<Me>("GET", "/api/me");
  } catch (thrown) {
    if (thrown instanceof Failure && thrown.problem.status === 401) return null;
    throw thrown;
  }
}

/** The login methods of this hub. */
export function signIn(): Promise<SignIn> {
  return ask("GET", "/api/sign-in");
}

/** Logs in with the secret of a one-time link. */
export function logIn(secret: string): Promise<Me> {
  return ask("POST", "/api/login", { secret });
}

/** Opens a project with the secret of an observer link. */
export function observe(secret: string): Promise<Me> {
  return ask("POST", "/api/observe", { secret });
}

/** Joins with the secret of an invitation. */
export function join(secret: string, name: string): Promise<Me> {
  return ask("POST", "/api/invites/accept", { secret, name });
}

/** Logs out this browser. */
export function logOut(): Promise<void> {
  return ask("POST", "/api/logout");
}

/** The content of an artifact. */
export async function contentOf(path: string): Promise<ArrayBuffer> {
  const response = await fetch(path, { credentials: "same-origin", cache: "no-store" }).catch(() => {
    throw new Failure(unreachable());
  });
  if (!response.ok) throw new Failure(await problemOf(response));
  return response.arrayBuffer();
}

async function ask<T>(method: string, path: string, body?: unknown): Promise<T> {
  const headers: Record<string, string> = { Accept: "application/json" };
  if (body !== undefined) headers["Content-Type"] = "application/json";
  const request: RequestInit = { method, headers, credentials: "same-origin", cache: "no-store" };
  if (body !== undefined) request.body = JSON.stringify(body);
  const response = await fetch(path, request).catch(() => {
    throw new Failure(unreachable());
  });
  if (!response.ok) throw new Failure(await problemOf(response));
  return (response.status === 204 ? undefined : await response.json()) as T;
}

/** What a refusal says. */
export async function problemOf(response: Response): Promise<Problem> {
  const fallback: Problem = {
    kind: response.status === 401 ? "unauthenticated" : "internal",
    status: response.status,
    detail: `The hub answered with status ${response.status}. Try again. If it happens again, check the hub's log.`,
  };
  try {
    return { ...fallback, ...((await response.json()) as Partial<Problem>) };
  } catch {
    return fallback;
  }
}

/** That the hub does not answer. */
export function unreachable(): Problem {
  return {
    kind: "unavailable",
    status: 0,
    detail:
      "Cannot reach the hub. Nothing was changed. Check that it is running (`shopfloor up`), then try again.",
  };
}
