/**
 * A session that a cookie proves, instead of a key that the browser tab keeps.
 */
import type { ComponentChildren, ComponentType } from "preact"
import type { ConsoleAccount } from "./ConsoleContext.browser.ts"

export interface SignInProps {
  /** Why the session ended, if the service said. */
  readonly error?: ComponentChildren
  readonly entered: (account: ConsoleAccount) => void
}

export interface ConsoleSession {
  /** Undefined without a session. */
  readonly current: () => Promise<ConsoleAccount | undefined>
  readonly form: ComponentType<SignInProps>
  readonly end: () => Promise<void>
}
