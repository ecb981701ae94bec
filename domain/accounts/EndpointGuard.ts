/**
 * Whether a provider's endpoint may be called from here, asked where it is registered: a provider learns of it at once, and
 * not by calls that fail. The guard in front of every connection stays the one that counts.
 */
import { Context, Effect, Schema } from "effect"

export class EndpointBlocked extends Schema.TaggedError<EndpointBlocked>()("EndpointBlocked", {
  hostname: Schema.String
}) {
  override get message() {
    return `endpoint_url: ${this.hostname} has an address that this service may not call. Give an address that the public internet reaches.`
  }
}

export interface EndpointGuard {
  /** Passes a name that has no address now: it may have one when it is called, and is checked then. */
  check(url: string): Effect.Effect<void, EndpointBlocked>
}

export const EndpointGuard = Context.Reference<EndpointGuard>("agent-tool-billing/domain/accounts/EndpointGuard", {
  defaultValue: () => ({ check: () => Effect.void })
})
