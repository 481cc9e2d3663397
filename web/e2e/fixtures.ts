import {
  type BrowserContext,
  type BrowserContextOptions,
  expect,
  type Page,
  test as base,
} from "@playwright/test";
import type { Activity, NewInvite, Project } from "../src/protocol";
import { Hub } from "./hub";

/** The test fixture. */
export type Floor = {
  hub: Hub;
  /** A page of the hub's owner. */
  owner: (options?: BrowserContextOptions) => Promise<Page>;
  /** A page of a person who joins with an invitation. */
  guest: (name: string, options?: BrowserContextOptions) => Promise<Page>;
  /** A page without a login. */
  stranger: (options?: BrowserContextOptions) => Promise<Page>;
  project: (content: string, visibility?: Project["visibility"]) => Promise<Project>;
  activity: (project: Project, content: string, status?: Activity["status"]) => Promise<Activity>;
  say: (project: Project, content: string) => Promise<void>;
};

/** An agent that asks for a permission, works, and exits. */
const ASKER = `
name = "asker"
label = "Asker"
command = ["sh", "-c", "printf 'Allow command: make test?'; read answer; echo thanks; exec cat"]

[env]
ASKER_PROMPT = "{prompt_file}"

[interactive]
prompt = "none"

[[screen]]
state = "waiting"
for = "permission"
match = '(?P<what>Allow command: [^?]+)\\?'
unless = 'thanks'

[[screen]]
state = "working"
`;

/** A test with its own hub. It fails when a page violates a policy, throws, or runs a foreign script. */
export const test = base.extend<{
  /** Whether the runner has the real agent CLIs that `make tools` installs. */
  agents: boolean;
  floor: Floor;
}>({
  agents: [false, { option: true }],
  floor: async ({ browser, agents }, use) => {
    const hub = new Hub(agents);
    hub.addAgent("asker", ASKER);
    await hub.start();
    const broken: string[] = [];
    const contexts: BrowserContext[] = [];

    const stranger: Floor["stranger"] = async (options = {}) => {
      const context = await browser.newContext({ baseURL: hub.url, ...options });
      contexts.push(context);
      const page = await context.newPage();
      await watch(page, broken);
      return page;
    };

    await use({
      hub,
      stranger,
      owner: async (options) => {
        const page = await stranger(options);
        const { link } = await hub.api<{ link: string }>("POST", "/api/login-links");
        await page.goto(link);
        await live(page);
        return page;
      },
      guest: async (name, options) => {
        const { link } = await hub.api<NewInvite>("POST", "/api/invites", { name });
        const page = await stranger(options);
        await page.goto(link);
        await page.getByLabel("Your name").fill(name);
        await page.getByRole("button", { name: "Join" }).click();
        await live(page);
        return page;
      },
      project: (content, visibility = "read-write") =>
        hub.api("POST", "/api/projects", { content, visibility }),
      activity: (project, content, status = "active") =>
        hub.api("POST", `/api/projects/${project.id}/activities`, { content, status }),
      say: async (project, content) =>
        void (await hub.api("POST", `/api/projects/${project.id}/messages`, { content })),
    });

    for (const context of contexts) await context.close();
    await hub.remove();
    expect(broken).toEqual([]);
  },
});

/** Waits until a page is live. */
export async function live(page: Page): Promise<void> {
  await expect(page.locator("[data-connection=live]")).toBeVisible();
}

/** Sends a chat message on a page. */
export async function say(page: Page, text: string): Promise<void> {
  await page.getByLabel("Message", { exact: true }).fill(text);
  await page.keyboard.press("Enter");
}

/** The sidebar of a page. */
export function sidebar(page: Page) {
  return page.getByRole("navigation", { name: "Floor" });
}

async function watch(page: Page, broken: string[]): Promise<void> {
  await page.exposeBinding("__report", (_, what: string) => void broken.push(what));
  await page.addInitScript(() => {
    const report = (window as unknown as { __report: (what: string) => void }).__report;
    addEventListener("securitypolicyviolation", (event) =>
      report(`policy: ${event.violatedDirective} ${event.blockedURI} ${event.sample}`),
    );
    for (const name of ["alert", "confirm", "prompt", "print"] as const) {
      Object.defineProperty(window, name, { value: () => report(`a script ran ${name}()`) });
    }
  });
  page.on("pageerror", (error) => broken.push(`thrown: ${error.message}`));
}

export { expect };
