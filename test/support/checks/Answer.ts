/**
 * A response of the service under test.
 */
import type { Schema } from "effect"

export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly text: string
  /** The body as it was sent. */
  readonly bytes: Uint8Array
  /** Undefined where the response is not JSON. */
  readonly json: Schema.Json | undefined
  /** Whether the service asked for the request's body. */
  readonly bodyWasRead: boolean
  /** What the service logged about this request. */
  readonly log: string
}
