/**
 * Requests of a console with the key of the signed-in account, or with the cookie of the operator's session.
 */
import { ApiError, request, requestFile } from "../kit/ApiRequest.browser.ts"
import { forgetKey, type KeyRole, storedKey } from "../kit/Session.browser.ts"

type Query = Readonly<Record<string, string | number | undefined>>

export interface ConsoleApi {
  readonly get: <A>(path: string, query?: Query) => Promise<A>
  readonly post: <A>(path: string, body: object, idempotencyKey?: string) => Promise<A>
  readonly delete: (path: string, idempotencyKey: string) => Promise<unknown>
  readonly file: (path: string) => Promise<Blob>
}

const credentialsOf = (role: KeyRole) => (role === "operator" ? { sendsCookie: true } : { key: storedKey(role) })

/** A key or a session that is rejected later, because it was revoked or has expired, signs out. */
export const consoleApi = (role: KeyRole): ConsoleApi => {
  const signingOut = async <A>(response: Promise<A>): Promise<A> => {
    try {
      return await response
    } catch (error) {
      if (error instanceof ApiError && error.status === 401) {
        forgetKey(role, `You were signed out. ${error.message}`)
      }
      throw error
    }
  }
  const call = <A>(method: string, path: string, body?: object, idempotencyKey?: string) =>
    signingOut(request<A>(method, path, { ...credentialsOf(role), isConsole: true, body, idempotencyKey }))
  return {
    get: (path, query = {}) => call("GET", withQuery(path, query)),
    post: (path, body, idempotencyKey) => call("POST", path, body, idempotencyKey),
    delete: (path, idempotencyKey) => call("DELETE", path, undefined, idempotencyKey),
    file: (path) => signingOut(requestFile(path, credentialsOf(role)))
  }
}

const withQuery = (path: string, query: Query): string => {
  const given = Object.entries(query).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]]))
  return given.length === 0 ? path : `${path}?${new URLSearchParams(given)}`
}
