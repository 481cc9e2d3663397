import { untrack } from "svelte";
import type { Problem } from "../../../lib/failure";
import type { Recipe } from "../../../protocol";
import { hub } from "../../../state/hub/hub.svelte";
import { recipesOf } from "../../../state/recipes/executions";
import { Fetched } from "../../../ui/request.svelte";

/** The recipes of a project: fetched when the page is live, then moved by deltas. */
export class Recipes {
  readonly #project: () => string;
  readonly #fetched: Fetched<Recipe[]>;

  constructor(project: () => string) {
    this.#project = project;
    this.#fetched = new Fetched(
      () => hub.call({ verb: "recipe.list", project: untrack(project) }),
      () => this.#project(),
    );
    $effect(() => {
      project();
      if (hub.connection.phase === "live") untrack(() => void this.load());
    });
  }

  /** The recipes; null before the first answer. */
  get all(): Recipe[] | null {
    const fetched = this.#fetched.value;
    return fetched ? recipesOf(hub.floor, this.#project(), fetched) : null;
  }

  get problem(): Problem | null {
    return this.#fetched.problem;
  }

  /** Fetches them again. */
  load = (): Promise<void> => this.#fetched.load();
}
