/**
 * Requests with the key of the signed-in account.
 */
import { request, requestFile } from "./ApiRequest.browser.ts"
import { type Role, storedKey } from "./Session.browser.ts"

type Query = Readonly<Record<string, string | number | undefined>>

export const accountApi = (role: Role) => {
  const call = <A>(method: string, path: string, body?: object, idempotencyKey?: string) =>
    request<A>(method, path, { key: storedKey(role), body, idempotencyKey })
  return {
    get: <A>(path: string, query: Query = {}) => call<A>("GET", withQuery(path, query)),
    post: <A>(path: string, body: object, idempotencyKey?: string) => call<A>("POST", path, body, idempotencyKey),
    delete: (path: string, idempotencyKey: string) => call<unknown>("DELETE", path, undefined, idempotencyKey),
    file: (path: string) => requestFile(path, { key: storedKey(role) })
  }
}

const withQuery = (path: string, query: Query): string => {
  const given = Object.entries(query).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]]))
  return given.length === 0 ? path : `${path}?${new URLSearchParams(given)}`
}
