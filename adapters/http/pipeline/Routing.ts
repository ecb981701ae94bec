/**
 * Finds the route of a request, or the response where there is none.
 */
import { Effect } from "effect"
import { FindMyWay } from "effect/http"
import { uncached } from "../contract/Access.ts"
import { MethodNotAllowed, RouteNotFound } from "./Failures.ts"
import type { HandlerError } from "./HandlerErrors.ts"
import { documentRoute, type EncodedReply, type Route } from "./Route.ts"
import { preflight, wantsPage, type WebRequest } from "./WebRequest.ts"

export interface Found {
  readonly route: Route
  readonly params: Readonly<Record<string, string | undefined>>
}

export interface Routing {
  /** A HEAD is handled as a GET. Without a route, returns one that says so. */
  find(request: WebRequest): Found
}

/** The name in metrics and logs of a request without a route. */
export const UNMATCHED = { method: "other", path: "unmatched" } as const

const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"] as const

/** `missingPage`: the page for a browser that requests a path without a route. */
export const makeRouting = (routes: ReadonlyArray<Route>, missingPage: EncodedReply | undefined): Routing => {
  const router = FindMyWay.make<Route>({
    ignoreTrailingSlash: true,
    ignoreDuplicateSlashes: false,
    caseSensitive: true
  })
  for (const route of routes) router.on(route.method as "GET", route.path as `/${string}`, route)

  const find = (method: string, path: string) =>
    METHODS.includes(method as "GET") && isWhole(path) ? router.find(method as "GET", path) : undefined

  const allowed = (path: string): ReadonlyArray<string> => {
    const methods = METHODS.filter((method) => find(method, path) !== undefined)
    return methods.includes("GET")
      ? ["GET", "HEAD", ...methods.filter((m) => m !== "GET"), "OPTIONS"]
      : [...methods, "OPTIONS"]
  }

  const unmatched = (request: WebRequest): Effect.Effect<EncodedReply, HandlerError> => {
    const { method, path } = request
    const allow = allowed(path)
    if (allow.length > 1 && method === "OPTIONS") return Effect.succeed(preflight(allow))
    const compatibility = find("POST", path)?.handler.compatibility
    if (compatibility !== undefined) return Effect.succeed(compatibility.otherMethods)
    if (allow.length > 1) return Effect.fail(new MethodNotAllowed({ method, path, allow }))
    return page !== undefined && routed(method) === "GET" && wantsPage(request) && !isForMachines(path)
      ? Effect.succeed(page)
      : Effect.fail(new RouteNotFound({ path }))
  }
  const page: EncodedReply | undefined = missingPage && {
    ...missingPage,
    headers: { ...missingPage.headers, "cache-control": "no-store", vary: "Accept, Origin" }
  }
  const noRoute: Found = {
    params: {},
    route: {
      ...documentRoute("/", uncached, Effect.die(new Error("Answered without its request"))),
      ...UNMATCHED,
      decodeQuery: undefined,
      answer: ({ request }) => unmatched(request)
    }
  }

  /** What was found lately, by method and path. */
  const latest = new Map(METHODS.map((method): [string, Map<string, Found>] => [method, new Map()]))

  const search = (method: string, path: string): Found => {
    const found = find(method, path)
    if (found === undefined) return noRoute
    const result = { route: found.handler, params: found.params }
    const known = latest.get(method)!
    if (known.size >= FOUND_MAX) known.clear()
    if (path.length <= FOUND_CHARS_MAX) known.set(path, result)
    return result
  }

  return {
    find: ({ method, path }) => latest.get(routed(method))?.get(path) ?? search(routed(method), path)
  }
}

/** Agents call the same few paths: to look one up takes a tenth of a search. Per method. */
const FOUND_MAX = 1_000
const FOUND_CHARS_MAX = 200

/**
 * MCP clients look for OAuth metadata in several places, and take a page for an authorization server that is broken: a client
 * with a key would then not use it.
 */
const isForMachines = (path: string): boolean => path.startsWith("/mcp/") || path.includes("/.well-known/")

const routed = (method: string): string => (method === "HEAD" ? "GET" : method)

/**
 * The router stops reading at `;` and `#`, so a proxy that guards a path would see another path than the router. `*`
 * addresses the server as a whole, and the router would take it for the root.
 */
const isWhole = (path: string): boolean => path !== "*" && !path.includes(";") && !path.includes("#")
