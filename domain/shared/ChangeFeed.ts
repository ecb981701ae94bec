/**
 * Tells every node that something which nodes cache has changed. Delivery is at most once and within a second;
 * caches keep a short time to live behind it. A change published inside a unit of work is sent when that commits.
 */
import { Context, Effect, Schema, Stream } from "effect"

export const Change = Schema.Struct({
  /** `everything`: changes may have been missed, so whatever is cached must be forgotten. */
  topic: Schema.Literals(["key", "account", "catalog", "everything"]),
  /** What changed: a key hash, an owner's id, a tool's id. Fits a PostgreSQL notification. */
  id: Schema.String.check(Schema.isMaxLength(200))
})
export type Change = typeof Change.Type

export class ChangeFeed extends Context.Service<
  ChangeFeed,
  {
    publish(change: Change): Effect.Effect<void>
    /** Every change from now on, those of this node included. */
    readonly changes: Stream.Stream<Change>
  }
>()("agent-tool-billing/domain/shared/ChangeFeed") {}

/** While the scope lives, every change from this moment on. */
export const onEachChange = (feed: ChangeFeed["Service"], react: (change: Change) => void) =>
  feed.changes.pipe(
    Stream.runForEach((change) => Effect.sync(() => react(change))),
    Effect.forkScoped({ startImmediately: true })
  )
