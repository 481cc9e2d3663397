import type { NotifyAdd } from "../../protocol";

/** The script that shows notifications while the page is closed. */
const WORKER = "/sw.js";

type WorkerUrl = { createPolicy(name: string, rules: object): { createScriptURL(url: string): string } };

/** Whether this browser can get notifications while the page is closed. */
export type PushState = "unsupported" | "insecure" | "denied" | "off" | "on";

/** The push subscription of this browser. */
class Push {
  #state = $state<PushState>(initial());

  /** Whether this browser is subscribed, or why it cannot be. */
  get state(): PushState {
    return this.#state;
  }

  /** Finds out whether this browser is subscribed. */
  async look(): Promise<void> {
    if (this.#state === "unsupported" || this.#state === "insecure") return;
    const registration = await navigator.serviceWorker.getRegistration(WORKER);
    const subscription = await registration?.pushManager.getSubscription();
    this.#state = Notification.permission === "denied" ? "denied" : subscription ? "on" : "off";
  }

  /** Asks for permission and subscribes with the hub's key; null if the person or browser refuses. */
  async subscribe(key: string): Promise<NotifyAdd | null> {
    const permission = await Notification.requestPermission();
    if (permission !== "granted") {
      this.#state = permission === "denied" ? "denied" : "off";
      return null;
    }
    await navigator.serviceWorker.register(trusted());
    const { pushManager } = await navigator.serviceWorker.ready;
    const made = await pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: key });
    const { endpoint, keys } = made.toJSON();
    if (!endpoint || !keys?.p256dh || !keys.auth) throw new Error("The browser's subscription has no keys.");
    this.#state = "on";
    return {
      kind: "push",
      url: endpoint,
      key: keys.p256dh,
      auth: keys.auth,
      name: nameOf(navigator.userAgent),
    };
  }

  /** Ends the subscription of this browser. */
  async unsubscribe(): Promise<void> {
    const registration = await navigator.serviceWorker.getRegistration(WORKER);
    await (await registration?.pushManager.getSubscription())?.unsubscribe();
    await registration?.unregister();
    await this.look();
  }
}

function initial(): PushState {
  if (!window.isSecureContext) return "insecure";
  const supported = "serviceWorker" in navigator && "PushManager" in window && "Notification" in window;
  if (!supported) return "unsupported";
  return Notification.permission === "denied" ? "denied" : "off";
}

// The content security policy allows only scripts that a policy has named.
function trusted(): string {
  const types = (window as { trustedTypes?: WorkerUrl }).trustedTypes;
  policy ??= types?.createPolicy("shopfloor-worker", { createScriptURL: () => WORKER });
  return policy ? policy.createScriptURL(WORKER) : WORKER;
}

let policy: ReturnType<WorkerUrl["createPolicy"]> | undefined;

/** A short name of a browser, such as `Firefox on Android`. */
export function nameOf(agent: string): string {
  const browser = /Edg\//.test(agent)
    ? "Edge"
    : /Firefox\//.test(agent)
      ? "Firefox"
      : /Chrome\//.test(agent)
        ? "Chrome"
        : /Safari\//.test(agent)
          ? "Safari"
          : "Browser";
  const system = /Android/.test(agent)
    ? "Android"
    : /iPhone|iPad/.test(agent)
      ? "iOS"
      : /Mac OS/.test(agent)
        ? "macOS"
        : /Windows/.test(agent)
          ? "Windows"
          : /Linux/.test(agent)
            ? "Linux"
            : null;
  return system ? `${browser} on ${system}` : browser;
}

/** This browser's push subscription. */
export const push = new Push();
