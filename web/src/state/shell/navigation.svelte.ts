import { parseRoute, pathOf, type Route } from "./route";

/** The current route, kept in the URL, so that back, reload and shared links work. */
class Navigation {
  #route = $state.raw<Route>(parseRoute(location.pathname, location.search));

  /** The current route. */
  get route(): Route {
    return this.#route;
  }

  /** Navigates to a route or path. */
  go(to: Route | string, options: { replace?: boolean } = {}): void {
    const path = typeof to === "string" ? to : pathOf(to);
    if (path === location.pathname + location.search && !location.hash) return;
    if (options.replace) history.replaceState(null, "", path);
    else history.pushState(null, "", path);
    this.sync();
  }

  /** Reads the route from the URL. */
  sync(): void {
    this.#route = parseRoute(location.pathname, location.search);
  }
}

/** The page's navigation. */
export const navigation = new Navigation();

/** Handles plain clicks on internal links without a page load. */
export function followLinks(event: MouseEvent): void {
  if (event.defaultPrevented || event.button !== 0) return;
  if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  const link = (event.target as Element | null)?.closest?.("a[href]");
  const to = addressOf(link ?? null);
  if (!to || to.origin !== location.origin || to.pathname.startsWith("/api/")) return;
  event.preventDefault();
  navigation.go(to.pathname + to.search);
}

// Links in SVG are a different element type.
function addressOf(link: Element | null): URL | null {
  if (link instanceof HTMLAnchorElement) return link.target ? null : new URL(link.href);
  return link instanceof SVGAElement ? new URL(link.href.baseVal, location.href) : null;
}
