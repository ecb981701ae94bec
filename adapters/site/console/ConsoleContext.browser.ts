/**
 * What every tab of a console can use: the signed-in account and the API with its key.
 */
import { type ComponentType, createContext } from "preact"
import { useContext } from "preact/hooks"
import type { KeyRole } from "../kit/Session.browser.ts"
import type { ConsoleApi } from "./ConsoleApi.browser.ts"

export interface ConsoleAccount {
  readonly id: string
  readonly name: string
  /** Of a provider. */
  readonly handle?: string | null
  /** Of a frozen account: since when, and why. */
  readonly frozen_at?: string | null
  readonly frozen_reason?: string | null
}

export interface ConsoleContext {
  readonly role: KeyRole
  readonly account: ConsoleAccount
  readonly api: ConsoleApi
  /** From the server, as the page wrote it. */
  readonly data: DOMStringMap
}

export const Context = createContext<ConsoleContext | undefined>(undefined)

export const useConsole = (): ConsoleContext => useContext(Context)!

export interface TabProps {
  /** Of the row whose details are shown; undefined for the whole tab. */
  readonly detail: string | undefined
}

export interface Tab {
  /** Its part of the address, and its folder. */
  readonly path: string
  readonly title: string
  readonly load: () => Promise<{ readonly tab: ComponentType<TabProps> }>
}
