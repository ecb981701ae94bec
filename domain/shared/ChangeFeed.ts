/**
 * Announces changes of cached data to every node. Delivery is at most once and within a second; caches also have a
 * short time to live. A change published in a unit of work is sent at its commit.
 */
import { Context, Effect, Schema, Stream } from "effect"
import type { StoreUnavailable } from "./StoreUnavailable.ts"

/** A change of which caches of other nodes forget their copy. */
export const Change = Schema.Struct({
  /**
   * `everything`: changes may have been missed, so all cached data must be dropped. `mcp_stream`: another node needs the
   * stream. `mcp_cancel`: the client of a request canceled it at another node.
   * `provider`: what a provider's server offers. `level`: a level of an account, with all below it.
   */
  topic: Schema.Literals([
    "key",
    "level",
    "account",
    "provider",
    "catalog",
    "toolbox",
    "mcp_session",
    "mcp_stream",
    "mcp_cancel",
    "everything"
  ]),
  /**
   * The name of what changed: a key hash, a level's or an owner's id, a tool's id, the account or key of a toolbox, a session's id.
   * Fits a PostgreSQL notification.
   */
  id: Schema.String.check(Schema.isMaxLength(200))
})
export type Change = typeof Change.Type

export class ChangeFeed extends Context.Service<
  ChangeFeed,
  {
    publish(change: Change): Effect.Effect<void, StoreUnavailable>
    /** Publishes them in this order. */
    publishAll(changes: ReadonlyArray<Change>): Effect.Effect<void, StoreUnavailable>
    /** Every change from now on, those of this node included. */
    readonly changes: Stream.Stream<Change>
  }
>()("agent-tool-billing/domain/shared/ChangeFeed") {}

/** Tells whether tools, prices or accounts may have changed. */
export const concernsCatalog = ({ topic }: Change): boolean =>
  topic === "catalog" || topic === "account" || topic === "everything"

/** Every change from now on, while the scope lives. */
export const onEachChange = (feed: ChangeFeed["Service"], react: (change: Change) => void) =>
  feed.changes.pipe(
    Stream.runForEach((change) => Effect.sync(() => react(change))),
    Effect.forkScoped({ startImmediately: true })
  )
