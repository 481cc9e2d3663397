// Shows notifications of the hub while the page is closed. It handles no requests and stores nothing.

self.addEventListener("push", (event) => {
  const { title, body, url, tag } = read(event);
  event.waitUntil(
    self.registration.showNotification(title, { body, tag, icon: "/icon-192.png", data: { url } }),
  );
});

self.addEventListener("notificationclick", (event) => {
  event.notification.close();
  event.waitUntil(open(event.notification.data?.url));
});

// A push message that cannot be read is still shown: browsers require it.
function read(event) {
  try {
    const { title, body, url, tag } = event.data.json();
    return { title: String(title), body: String(body), url: String(url), tag: String(tag) };
  } catch {
    return { title: "Shopfloor", body: "Something needs you.", url: "/needs", tag: "shopfloor" };
  }
}

// Only this hub's own pages are opened.
async function open(text) {
  const url = new URL(text ?? "/", self.location.origin);
  const path = url.pathname + url.search;
  const pages = await self.clients.matchAll({ type: "window" });
  const page = pages.find((one) => new URL(one.url).pathname === url.pathname);
  if (page) return page.focus();
  return self.clients.openWindow(path);
}
