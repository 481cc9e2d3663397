import type { PathSeen } from "../../protocol";

/** How a repository's location reads: nothing, a path on a runner, an address, or neither yet. */
export type Kind = "none" | "path" | "address" | "unclear";

/** What is known about a location before anything is created. */
export type Place = {
  /** Whether a project can be created with it. */
  fits: boolean;
  /** What it is, and what happens with it. */
  text: string;
  /** The location to store: the root of the repository. */
  location: string;
};

/** The kind of a location, by its first characters. */
export function kindOf(text: string): Kind {
  const location = text.trim();
  if (!location) return "none";
  if (/^[/~]/u.test(location)) return "path";
  return /^[a-z+]+:\/\//iu.test(location) || /^[^\s/@]+@[^\s/:]+:/u.test(location) ? "address" : "unclear";
}

/** A location without the branch that `LOCATION#BRANCH` names. */
export function withoutBranch(text: string): string {
  const location = text.trim();
  const at = location.lastIndexOf("#");
  return at > 0 ? location.slice(0, at) : location;
}

/** Judges a location; `seen` is the runner's answer about this path, `runner` the name of the asked runner. */
export function judge(text: string, seen: PathSeen | null, runner: string | null): Place {
  const location = text.trim();
  const place = (fits: boolean, text: string, at = location): Place => ({ fits, text, location: at });
  switch (kindOf(location)) {
    case "none":
      return place(true, "Without a repository, agents start in an empty folder. You can add one later.");
    case "address":
      return place(
        true,
        "The runner clones it when the first agent starts. If it cannot, the reason is shown beside the agent.",
      );
    case "unclear":
      return place(false, "Write the whole path, such as /home/you/shop or ~/shop, or a URL.");
    case "path":
      if (!runner) return place(true, "No runner of yours is connected: this path is not checked.");
      return seen ? judgeSeen(seen, runner, place) : place(false, "Looking…");
  }
}

function judgeSeen(
  seen: PathSeen,
  runner: string,
  place: (fits: boolean, text: string, at?: string) => Place,
): Place {
  if (seen.repository) {
    const { root, branches, default_branch } = seen.repository;
    const at = root === seen.path ? "" : `Inside the repository ${root}, which is used. `;
    if (branches.length === 0)
      return place(
        false,
        `${at}This repository has no commits yet: agents have nothing to start from.`,
        root,
      );
    const others =
      branches.length > 1 ? ` and ${branches.length === 100 ? "99 or more" : branches.length - 1} more` : "";
    const branch = `${default_branch ?? branches[0]}${others}`;
    return place(true, `${at}Branch ${branch}. Agents work in clones of it, each on its own branch.`, root);
  }
  if (seen.problem) return place(false, seen.problem);
  if (seen.exists) return place(false, `${seen.path} is a folder on ${runner}, but not a git repository.`);
  return place(false, `There is no folder ${seen.path} on ${runner}.`);
}
