/**
 * Which route a request is for, and what is said where there is none.
 */
import { FindMyWay } from "effect/http"
import { preflight } from "./Conventions.ts"
import { MethodNotAllowed, RouteNotFound } from "./Failures.ts"
import { problemOf, toAnswer } from "./Problems.ts"
import type { EncodedReply, Route } from "./Route.ts"
import { type WebAnswer, type WebRequest, wantsPage } from "./WebRequest.ts"

export interface Found {
  readonly handler: Route
  readonly params: Readonly<Record<string, string | undefined>>
}

export interface Routing {
  find(method: string, path: string): Found | undefined
  /** To a request for which there is no route: a HEAD asks as a GET does. */
  unrouted(request: WebRequest, method: string, requestId: string): WebAnswer
}

const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"] as const

/** `nothingHere`: what a browser is shown where there is no route. */
export const makeRouting = (routes: ReadonlyArray<Route>, nothingHere: EncodedReply, baseUrl: string): Routing => {
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

  const unrouted = (request: WebRequest, method: string, requestId: string): WebAnswer => {
    const allow = allowed(request.path)
    if (allow.length > 1 && method === "OPTIONS") return preflight(allow)
    const quirks = find("POST", request.path)?.handler.quirks
    if (quirks !== undefined) return quirks.otherMethods
    if (allow.length === 1 && method === "GET" && wantsPage(request)) {
      return {
        ...nothingHere,
        headers: { ...nothingHere.headers, "cache-control": "no-store", vary: "Accept, Origin" }
      }
    }
    const refusal =
      allow.length > 1
        ? new MethodNotAllowed({ method: request.method, path: request.path, allow })
        : new RouteNotFound({ path: request.path })
    return toAnswer(problemOf(refusal, baseUrl), requestId, request.path, baseUrl)
  }

  return { find, unrouted }
}

/**
 * The router would stop reading at these, and a proxy before us that guards a path would have seen another one. `*` is no
 * path: it asks about the server, and the router would take it for the root.
 */
const isWhole = (path: string): boolean => path !== "*" && !path.includes(";") && !path.includes("#")
