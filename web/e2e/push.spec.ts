import { createDecipheriv, createECDH, type ECDH, hkdfSync, randomBytes } from "node:crypto";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import type { BrowserContext, Page } from "@playwright/test";
import { expect, live, test } from "./fixtures";

/** The push service of a browser: it keeps what hubs send, and can read it with the browser's keys. */
class PushService {
  readonly keys: ECDH = createECDH("prime256v1");
  readonly auth = randomBytes(16);
  readonly got: { path: string; body: Buffer }[] = [];
  readonly #server = createServer((request: IncomingMessage, response) => {
    const parts: Buffer[] = [];
    request.on("data", (part: Buffer) => parts.push(part));
    request.on("end", () => {
      this.got.push({ path: request.url ?? "", body: Buffer.concat(parts) });
      response.writeHead(201).end();
    });
  });

  async start(): Promise<this> {
    this.keys.generateKeys();
    await new Promise<void>((done) => this.#server.listen(0, "127.0.0.1", done));
    return this;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  stop(): void {
    this.#server.close();
  }

  /** The text of a message: RFC 8291 over RFC 8188, one record. */
  read(body: Buffer): string {
    const salt = body.subarray(0, 16);
    const sender = body.subarray(21, 21 + (body[20] ?? 0));
    const ours = this.keys.getPublicKey();
    const info = Buffer.concat([Buffer.from("WebPush: info\0"), ours, sender]);
    const secret = hkdfSync("sha256", this.keys.computeSecret(sender), this.auth, info, 32);
    const derive = (label: string, length: number) =>
      Buffer.from(
        hkdfSync("sha256", Buffer.from(secret), salt, Buffer.from(`Content-Encoding: ${label}\0`), length),
      );
    const record = body.subarray(21 + sender.length);
    const cipher = createDecipheriv("aes-128-gcm", derive("aes128gcm", 16), derive("nonce", 12));
    cipher.setAuthTag(record.subarray(-16));
    const text = Buffer.concat([cipher.update(record.subarray(0, -16)), cipher.final()]);
    return text.subarray(0, text.lastIndexOf(2)).toString();
  }
}

/** Lets the browser subscribe to that service, because Chromium's own is on the internet. */
async function subscribesTo(page: Page, service: PushService): Promise<void> {
  const made = {
    endpoint: `${service.url}/push/abc`,
    keys: { p256dh: service.keys.getPublicKey("base64url"), auth: service.auth.toString("base64url") },
  };
  await page.addInitScript((json) => {
    const kept = "test-subscription";
    const subscription = {
      toJSON: () => json,
      unsubscribe: () => Promise.resolve(sessionStorage.removeItem(kept)).then(() => true),
    };
    const manager = PushManager.prototype as unknown as Record<string, unknown>;
    manager.subscribe = (options: PushSubscriptionOptionsInit) => {
      sessionStorage.setItem(kept, JSON.stringify(options));
      return Promise.resolve(subscription);
    };
    manager.getSubscription = () => Promise.resolve(sessionStorage.getItem(kept) ? subscription : null);
  }, made);
}

/** Delivers a push message to the service worker of the page, as the browser would. */
async function deliver(context: BrowserContext, page: Page, data: string): Promise<void> {
  const cdp = await context.newCDPSession(page);
  const registration = new Promise<string>((done) => {
    cdp.on("ServiceWorker.workerRegistrationUpdated", ({ registrations }) => {
      const [one] = registrations.filter((each) => !each.isDeleted);
      if (one) done(one.registrationId);
    });
  });
  await cdp.send("ServiceWorker.enable");
  const origin = new URL(page.url()).origin;
  await cdp.send("ServiceWorker.deliverPushMessage", { origin, registrationId: await registration, data });
  await cdp.detach();
}

type Shown = { title: string; body: string; tag: string; icon: string; url: unknown };

/** The notifications that the service worker shows. */
function shown(page: Page): Promise<Shown[]> {
  return page.evaluate(async () => {
    const registration = await navigator.serviceWorker.ready;
    const all = await registration.getNotifications();
    return all.map(({ title, body, tag, icon, data }) => ({
      title,
      body,
      tag,
      icon,
      url: (data as { url: unknown }).url,
    }));
  });
}

test("a subscribed browser shows what the hub sends, and opens its page", async ({ floor }) => {
  const service = await new PushService().start();
  const page = await floor.owner({ permissions: ["notifications"] });
  const context = page.context();
  await subscribesTo(page, service);
  await page.goto("/settings");
  await live(page);
  const section = page.getByRole("region", { name: "Notifications" });
  const here = section.getByRole("switch", { name: "Notify this browser" });
  await expect(here).not.toBeChecked();
  await here.click();
  await expect(here).toBeChecked();
  const row = section.getByRole("listitem");
  await expect(row).toContainText("Chrome on Linux");

  await test.step("it subscribes with the hub's key", async () => {
    const { key } = await floor.hub.api<{ key: string }>("GET", "/api/notify/key");
    const options = await page.evaluate(() => sessionStorage.getItem("test-subscription"));
    expect(JSON.parse(options ?? "")).toEqual({ userVisibleOnly: true, applicationServerKey: key });
  });

  await test.step("a message of the hub becomes a notification", async () => {
    await row.getByRole("button", { name: /Send a test/ }).click();
    await expect(row.getByRole("status")).toContainText("Delivered");
    const [got] = service.got;
    expect(got?.path).toBe("/push/abc");
    const text = service.read(got?.body ?? Buffer.alloc(0));
    const sent = JSON.parse(text) as Record<string, string>;
    await deliver(context, page, text);
    await expect(async () => expect(await shown(page)).toHaveLength(1)).toPass();
    const [one] = await shown(page);
    expect(one).toMatchObject({ title: sent.title, body: sent.body, tag: sent.tag, url: sent.url });
    const icon = await page.request.get(one?.icon ?? "");
    expect([icon.status(), icon.headers()["content-type"]]).toEqual([200, "image/png"]);
  });

  await test.step("a message that cannot be read is shown, too", async () => {
    await deliver(context, page, "not JSON");
    await expect(async () => expect(await shown(page)).toHaveLength(2)).toPass();
    expect(await shown(page)).toContainEqual(
      expect.objectContaining({ title: "Shopfloor", body: "Something needs you.", url: "/needs" }),
    );
  });

  await test.step("a click opens only pages of this hub", async () => {
    const [worker] = context.serviceWorkers();
    const opened = await worker?.evaluate(
      async (urls) => {
        // Without a real click, a worker may open nothing.
        const { clients } = self as unknown as {
          clients: { openWindow: (url: string) => Promise<null> };
        };
        const found: string[] = [];
        clients.openWindow = (url) => Promise.resolve(void found.push(url)).then(() => null);
        for (const url of urls) {
          let done: Promise<unknown> = Promise.resolve();
          const click = Object.assign(new Event("notificationclick"), {
            notification: { data: { url }, close: () => {} },
            waitUntil: (work: Promise<unknown>) => (done = work),
          });
          self.dispatchEvent(click);
          await done;
        }
        return found;
      },
      ["/needs?kind=task", "https://evil.example/steal?x=1"],
    );
    expect(opened).toEqual(["/needs?kind=task", "/steal?x=1"]);
  });

  await test.step("it unsubscribes", async () => {
    await here.click();
    await expect(here).not.toBeChecked();
    await page.reload();
    await live(page);
    await expect(here).not.toBeChecked();
    expect(await page.evaluate(async () => (await navigator.serviceWorker.getRegistrations()).length)).toBe(
      0,
    );
  });
  service.stop();
});

test("a person who refuses keeps the switch off", async ({ floor }) => {
  const page = await floor.owner();
  await page.addInitScript(() => {
    Notification.requestPermission = () => Promise.resolve("default");
  });
  await page.goto("/settings");
  await live(page);
  const section = page.getByRole("region", { name: "Notifications" });
  const here = section.getByRole("switch", { name: "Notify this browser" });
  await here.click();
  await expect(here).not.toBeChecked();
  await expect(section.getByText("No other channels")).toBeVisible();
});

test("the page can be put on a home screen", async ({ floor }) => {
  const page = await floor.owner();
  const manifest = await page.request.get("/manifest.webmanifest");
  const { icons } = (await manifest.json()) as { icons: { src: string; sizes: string; type: string }[] };
  const pixels = icons.filter(({ type }) => type === "image/png");
  expect(pixels.map(({ sizes }) => sizes)).toEqual(["192x192", "512x512", "512x512"]);
  const touch = await page.locator("link[rel=apple-touch-icon]").getAttribute("href");
  for (const { src, sizes } of [...pixels, { src: touch ?? "", sizes: "180x180" }]) {
    const reply = await page.request.get(src);
    expect(reply.headers()["content-type"], src).toBe("image/png");
    const png = await reply.body();
    expect(`${png.readUInt32BE(16)}x${png.readUInt32BE(20)}`, src).toBe(sizes);
  }
});
