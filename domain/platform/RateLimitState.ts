/**
 * Whether rate limits are shared by all nodes, if there is a store for that.
 */
import { Context } from "effect"

export const RateLimitState = Context.Reference<{
  /** Why each node counts alone for now; undefined if nothing is wrong. */
  readonly problem: () => string | undefined
}>("agent-tool-billing/domain/platform/RateLimitState", { defaultValue: () => ({ problem: () => undefined }) })
