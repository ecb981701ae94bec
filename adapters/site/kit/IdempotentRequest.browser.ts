/**
 * Idempotency keys for retried requests: the key stays the same until the outcome of the request is known.
 */
import { ApiError } from "./Api.browser.ts"

export interface IdempotentRequest {
  /** `operation`: the whole request. Another operation gets another key. */
  readonly keyFor: (operation: string) => string
  /** Call it with the error if the request failed. */
  readonly finished: (error?: unknown) => void
}

export const idempotentRequest = (): IdempotentRequest => {
  let pending: { readonly operation: string; readonly key: string } | undefined
  return {
    keyFor: (operation) => {
      if (pending?.operation !== operation) pending = { operation, key: randomKey() }
      return pending.key
    },
    finished: (error) => {
      if (error === undefined || (error instanceof ApiError && error.isFinal)) pending = undefined
    }
  }
}

/** `crypto.randomUUID` is missing on pages that were loaded over plain HTTP. */
const randomKey = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("")
