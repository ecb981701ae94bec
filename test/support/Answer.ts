/**
 * What the service under test answered.
 */
import type { Schema } from "effect"

export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly text: string
  /** The body as it was sent. */
  readonly bytes: Uint8Array
  /** Undefined where the answer is not JSON. */
  readonly json: Schema.Json | undefined
  /** Whether the service asked for the request's body. */
  readonly bodyWasRead: boolean
  /** What the service wrote into its log about this request. */
  readonly log: string
}
