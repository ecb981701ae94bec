/**
 * Every tab of a console can use the signed-in account and the API with its key.
 */
import { type ComponentChildren, type ComponentType, createContext } from "preact"
import { useContext } from "preact/hooks"
import { ApiError, request, requestFile } from "../kit/ApiRequest.browser.ts"
import { forgetKey, type KeyRole, storedKey } from "../kit/Session.browser.ts"

type Query = Readonly<Record<string, string | number | undefined>>

/** Requests of a console with the key of the signed-in account, or with the cookie of the operator's session. */
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

export interface ConsoleAccount {
  readonly id: string
  readonly name: string
  readonly handle?: string | null
  readonly frozen_at?: string | null
  readonly frozen_reason?: string | null
}

export interface ConsoleContext {
  readonly role: KeyRole
  readonly account: ConsoleAccount
  readonly api: ConsoleApi
  /** The data that the server wrote into the page. */
  readonly data: DOMStringMap
}

export const Context = createContext<ConsoleContext | undefined>(undefined)

export const useConsole = (): ConsoleContext => useContext(Context)!

export interface TabProps {
  /** Names the row whose details are shown; undefined for the whole tab. */
  readonly detail: string | undefined
}

export interface Tab {
  /** Its part of the address, and its folder. */
  readonly path: string
  readonly title: string
  readonly load: () => Promise<{ readonly tab: ComponentType<TabProps> }>
}

export interface SignInProps {
  /** The reason why the session ended, if the service gave one. */
  readonly error?: ComponentChildren
  readonly entered: (account: ConsoleAccount) => void
}

/** A session that a cookie proves, instead of a key that the browser tab keeps. */
export interface ConsoleSession {
  /** Undefined without a session. */
  readonly current: () => Promise<ConsoleAccount | undefined>
  readonly form: ComponentType<SignInProps>
  readonly end: () => Promise<void>
}

/** Browsers read the file after the click has returned. */
const KEPT_MS = 60_000

/** Saves a file that the page has made or read. */
export const saveFile = (name: string, content: string | Blob): void => {
  const href = URL.createObjectURL(typeof content === "string" ? new Blob([content], { type: "text/plain" }) : content)
  const link = document.createElement("a")
  link.href = href
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(href), KEPT_MS)
}
