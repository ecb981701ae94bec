/**
 * What indexes show of the routes. It is read from the routes themselves, so that indexes name only routes that exist.
 */
import type { Route } from "../pipeline/Route.ts"

export type Named = Readonly<Record<string, string>>

export const namesOf = (routes: ReadonlyArray<Route>): Named =>
  Object.fromEntries(
    routes
      .filter(({ summary }) => summary !== "")
      .map(({ method, path, shownPath, summary }) => [`${method} ${shownPath ?? path}`, summary])
  )

const MARKET = /^\/api\/(?:v1\/)?market(?:\/|$)/u
const TRUST =
  /^\/api\/v1\/(?:verify$|market\/(?:receipts|log|providers|disputes)(?:\/|$))|^\/\.well-known\/jwks\.json$/u

export const isMarket = ({ path }: Route): boolean => MARKET.test(path)
export const isTrust = ({ path }: Route): boolean => TRUST.test(path)

/** The URL of the first of these paths that has a GET route. */
export const firstExisting = (
  routes: ReadonlyArray<Route>,
  baseUrl: string,
  ...paths: ReadonlyArray<string>
): string => {
  const found = paths.find((wanted) => routes.some(({ method, path }) => method === "GET" && path === wanted))
  if (found === undefined) throw new Error(`There is nothing at ${paths.join(" or ")}`)
  return `${baseUrl}${found}`
}
