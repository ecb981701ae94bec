/**
 * Whether rate limits are counted where they should be: by all nodes together, if there is a store for that.
 */
import { Context } from "effect"

export const RateLimitStanding = Context.Reference<{
  /** Why each node counts by itself for now; undefined while nothing is wrong. */
  readonly problem: () => string | undefined
}>("agent-tool-billing/domain/platform/RateLimitStanding", { defaultValue: () => ({ problem: () => undefined }) })
