/** A dialog. */
export type Dialog =
  | { kind: "palette" }
  | { kind: "shortcuts" }
  | { kind: "create-project" }
  | { kind: "create-activity"; project: string }
  | { kind: "spawn"; project: string | null; activity: string | null }
  | { kind: "add-tasks"; project: string; after?: string }
  | { kind: "start-workers"; project: string }
  | { kind: "take-over"; task: string }
  | { kind: "handoff"; session: string }
  | { kind: "decide-tasks"; act: "cancel" | "reopen" | "prioritise"; tasks: readonly string[] }
  | { kind: "freeze"; project: string | null }
  | { kind: "invite" };

/** The open dialog, at most one. */
class Dialogs {
  #open = $state.raw<Dialog | null>(null);

  get open(): Dialog | null {
    return this.#open;
  }

  /** Opens a dialog and closes any other. */
  show(dialog: Dialog): void {
    this.#open = dialog;
  }

  /** Closes the open dialog. */
  close(): void {
    this.#open = null;
  }
}

/** The page's dialogs. */
export const dialogs = new Dialogs();
