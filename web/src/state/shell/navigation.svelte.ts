import { parseRoute, pathOf, type Route } from "./route";

/** Where the page is; the address bar is the truth, so back, reload and shared links work. */
class Navigation {
  #route = $state.raw<Route>(parseRoute(location.pathname, location.search));

  /** The current place. */
  get route(): Route {
    return this.#route;
  }

  /** Goes to a place. */
  go(to: Route | string, options: { replace?: boolean } = {}): void {
    const path = typeof to === "string" ? to : pathOf(to);
    if (path === location.pathname + location.search && !location.hash) return;
    if (options.replace) history.replaceState(null, "", path);
    else history.pushState(null, "", path);
    this.sync();
  }

  /** Reads the address again. */
  sync(): void {
    this.#route = parseRoute(location.pathname, location.search);
  }
}

/** The page's navigation. */
export const navigation = new Navigation();

/** Lets plain clicks on our own links change the place without loading the page again. */
export function followLinks(event: MouseEvent): void {
  if (event.defaultPrevented || event.button !== 0) return;
  if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  const link = (event.target as Element | null)?.closest?.("a[href]");
  const to = addressOf(link ?? null);
  if (!to || to.origin !== location.origin || to.pathname.startsWith("/api/")) return;
  event.preventDefault();
  navigation.go(to.pathname + to.search);
}

// In a picture a link is another kind of element.
function addressOf(link: Element | null): URL | null {
  if (link instanceof HTMLAnchorElement) return link.target ? null : new URL(link.href);
  return link instanceof SVGAElement ? new URL(link.href.baseVal, location.href) : null;
}
