import { asProblem, type Problem } from "../../lib/failure";
import type { Session, SessionSpawn } from "../../protocol";
import { argvOf, isPlain } from "../../state/execution/agents";
import { navigation } from "../../state/shell/navigation.svelte";
import { notices } from "../../state/shell/notices.svelte";
import { hub } from "../../state/hub/hub.svelte";
import { recall, remember } from "../../lib/storage";
import { tabs } from "../../state/execution/tabs.svelte";
import { nameOf } from "../../state/projects/tree";

/** The form that starts an agent. */
export class Spawning {
  agent = $state(recall("agent") ?? "");
  prompt = $state("");
  command = $state("");
  mode = $state<"interactive" | "headless">("interactive");
  model = $state("");
  sandbox = $state(false);
  // The same defaults as on the command line.
  network = $state(true);
  home = $state(false);
  runner = $state("");
  repository = $state("");
  base = $state("");
  recordInput = $state(false);
  busy = $state(false);
  problem = $state.raw<Problem | null>(null);
  // One key per attempt: a double click or a retry after a lost answer starts one agent.
  #key = crypto.randomUUID();

  /** The error of a field. */
  errorOf(field: string): string | null {
    return this.problem?.errors?.find((error) => error.field === field)?.message ?? null;
  }

  /** Whether the required fields are filled in. */
  get isComplete(): boolean {
    if (!this.agent) return false;
    if (this.agent === "command") return argvOf(this.command).length > 0;
    return this.agent === "shell" || this.mode === "interactive" || this.prompt.trim() !== "";
  }

  /** The form as input for the hub. */
  input(where: Pick<SessionSpawn, "project" | "activity" | "workspace">): SessionSpawn {
    const plain = isPlain(this.agent);
    const argv = plain ? argvOf(this.command) : [];
    return {
      ...where,
      agent: this.agent,
      ...(!plain && this.prompt.trim() ? { prompt: this.prompt } : {}),
      ...(!plain ? { mode: this.mode } : {}),
      ...(!plain && this.model.trim() ? { model: this.model.trim() } : {}),
      ...(argv.length > 0 ? { argv } : {}),
      ...(this.runner ? { runner: this.runner } : {}),
      ...(this.repository ? { repository: this.repository } : {}),
      ...(this.base.trim() ? { base: this.base.trim() } : {}),
      ...(this.sandbox ? { sandbox: { network: this.network, home: this.home } } : {}),
      ...(this.recordInput ? { record_input: true } : {}),
    };
  }

  // A session on another person's runner belongs to them, may be hidden, and starts only after their approval.
  #show({ id, project, activity, owner }: Session): void {
    const { floor } = hub;
    const mine = owner.id === floor.me?.user?.id;
    if (!mine) notices.tell(`Request sent. The session starts when ${nameOf(floor, owner)} allows it.`);
    if (!mine && !floor.projects.get(project)?.share_execution)
      return navigation.go({ name: "activity", project, activity });
    tabs.add(id);
    navigation.go({ name: "session", session: id });
  }

  /** Starts the agent at the place that `where` returns and opens its terminal; returns whether it started. */
  async spawn(
    where: () => Promise<Pick<SessionSpawn, "project" | "activity" | "workspace">>,
  ): Promise<boolean> {
    if (this.busy) return false;
    this.busy = true;
    this.problem = null;
    try {
      const made = await hub.call({ verb: "session.spawn", input: this.input(await where()) }, this.#key);
      remember("agent", this.agent);
      this.#show(made);
      return true;
    } catch (thrown) {
      this.problem = asProblem(thrown);
      this.#key = crypto.randomUUID();
      return false;
    } finally {
      this.busy = false;
    }
  }
}
