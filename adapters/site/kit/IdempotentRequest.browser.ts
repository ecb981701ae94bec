/**
 * An idempotency key for what somebody wants done: the same until the service has said what became of it, so that a
 * second try is no second wish.
 */
import { Refused } from "./Api.browser.ts"

export interface Wish {
  /** `what`: what is wanted, in full. Something else is another wish. */
  readonly keyFor: (what: string) => string
  /** It was done, or it failed for this reason. */
  readonly heard: (failure?: unknown) => void
}

export const makeWish = (): Wish => {
  let open: { readonly what: string; readonly key: string } | undefined
  return {
    keyFor: (what) => {
      if (open?.what !== what) open = { what, key: newKey() }
      return open.key
    },
    heard: (failure) => {
      if (failure === undefined || (failure instanceof Refused && failure.isFinal)) open = undefined
    }
  }
}

/** From what every page has: browsers give UUIDs only to pages that came over https. */
const newKey = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("")
