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
  if (!(link instanceof HTMLAnchorElement) || link.target || link.origin !== location.origin) return;
  if (link.pathname.startsWith("/api/")) return;
  event.preventDefault();
  navigation.go(link.pathname + link.search);
}
