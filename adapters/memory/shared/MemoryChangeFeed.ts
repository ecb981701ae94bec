/**
 * The change feed of a single process.
 */
import { Effect, Layer, PubSub, Stream } from "effect"
import { type Change, ChangeFeed } from "../../../domain/shared/ChangeFeed.ts"
import { afterCommit } from "./MemoryUnitOfWork.ts"

/** A reader that is further behind loses the oldest changes. Caches also have a time to live. */
const CHANGES_WAITING_MAX = 16_384

export const layer = Layer.effect(
  ChangeFeed,
  Effect.gen(function* () {
    const changes = yield* Effect.acquireRelease(PubSub.sliding<Change>(CHANGES_WAITING_MAX), PubSub.shutdown)
    return ChangeFeed.of({
      publish: (change) => afterCommit(Effect.asVoid(PubSub.publish(changes, change))),
      publishAll: (all) => afterCommit(Effect.asVoid(PubSub.publishAll(changes, all))),
      changes: Stream.fromPubSub(changes)
    })
  })
)
