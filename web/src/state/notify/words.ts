import type { ChannelKind, NotifyKind } from "../../protocol";

/** What a notification is about. */
export const NOTIFY: Record<NotifyKind, { word: string; meaning: string }> = {
  approval: { word: "Approvals", meaning: "Something needs your approval to run on your runner." },
  question: { word: "Questions", meaning: "A question about a task or of an execution needs your answer." },
  waiting: { word: "Waiting agents", meaning: "An agent of yours waits for input." },
  mention: { word: "Mentions", meaning: "Somebody mentions you in a chat." },
  blocked: { word: "Blocked activities", meaning: "An activity of yours is blocked." },
  failed: { word: "Failed work", meaning: "A task or an execution failed." },
  worker: { word: "Stopped workers", meaning: "A worker of yours stopped taking tasks." },
  merge: { word: "Stopped merges", meaning: "A merge queue stopped, or work could not land." },
  done: { word: "Done tasks", meaning: "A task is done." },
  landed: { word: "Landed work", meaning: "Work landed on its target branch." },
};

/** All kinds of notifications, in the order of the forms. */
export const NOTIFY_KINDS = Object.keys(NOTIFY) as NotifyKind[];

/** The channels that notifications go to. */
export const CHANNEL: Record<ChannelKind, { word: string; placeholder: string }> = {
  ntfy: { word: "ntfy", placeholder: "https://ntfy.sh/my-topic" },
  webhook: { word: "Webhook", placeholder: "https://example.org/hook" },
  slack: { word: "Slack", placeholder: "https://hooks.slack.com/services/…" },
  discord: { word: "Discord", placeholder: "https://discord.com/api/webhooks/…" },
  push: { word: "Browser", placeholder: "" },
};

/** The channels that are added by their address. */
export const BY_ADDRESS = ["ntfy", "webhook", "slack", "discord"] as const;
