/**
 * What a ChangeFeed must do, with the unit of work that its changes wait for.
 */
import { Effect, Queue, type Scope, Stream } from "effect"
import assert from "node:assert/strict"
import { type Change, ChangeFeed } from "../../../domain/shared/ChangeFeed.ts"
import { UnitOfWork } from "../../../domain/shared/StoreUnavailable.ts"
import { type Contract, rule } from "./Contract.ts"

/** All changes from now on. */
export const listenTo = Effect.fnUntraced(function* (feed: ChangeFeed["Service"]) {
  const received = yield* Queue.unbounded<Change>()
  yield* feed.changes.pipe(
    Stream.runForEach((change) => Queue.offer(received, change)),
    Effect.forkScoped({ startImmediately: true })
  )
  return received
})

const key = (id: string): Change => ({ topic: "key", id })

const scopedRule = <E, Ports>(title: string, check: Effect.Effect<void, E, Ports | Scope.Scope>) =>
  rule(title, Effect.scoped(check))

export const changeFeedContract: Contract<ChangeFeed | UnitOfWork> = [
  scopedRule(
    "delivers every change to every reader, once and in order",
    Effect.gen(function* () {
      const feed = yield* ChangeFeed
      const [one, other] = [yield* listenTo(feed), yield* listenTo(feed)]
      const changes: ReadonlyArray<Change> = [
        key("a"),
        { topic: "account", id: "b" },
        { topic: "catalog", id: "c" },
        { topic: "key", id: "\u{1F511}".repeat(100) },
        key("a")
      ]
      yield* Effect.forEach(changes, feed.publish)
      yield* feed.publishAll(changes)
      yield* feed.publishAll([])
      for (const reader of [one, other]) assert.deepEqual(yield* Queue.takeN(reader, 10), [...changes, ...changes])
      yield* Effect.sleep("100 millis")
      assert.equal(yield* Queue.size(one), 0)
    })
  ),

  scopedRule(
    "delivers a change after its unit of work is committed",
    Effect.gen(function* () {
      const feed = yield* ChangeFeed
      const { atomically } = yield* UnitOfWork
      const received = yield* listenTo(feed)
      const unit = Effect.gen(function* () {
        yield* feed.publish(key("outer"))
        yield* atomically(feed.publishAll([key("inner"), key("last")]))
        yield* Effect.sleep("100 millis")
        assert.equal(yield* Queue.size(received), 0)
      })
      yield* atomically(unit)
      assert.deepEqual(yield* Queue.takeN(received, 3), [key("outer"), key("inner"), key("last")])
    })
  ),

  scopedRule(
    "delivers nothing of a unit of work that fails",
    Effect.gen(function* () {
      const feed = yield* ChangeFeed
      const { atomically } = yield* UnitOfWork
      const received = yield* listenTo(feed)
      const failing = Effect.andThen(feed.publish(key("taken back")), Effect.fail("no"))
      yield* Effect.flip(atomically(failing))
      yield* atomically(Effect.andThen(Effect.flip(atomically(failing)), feed.publish(key("kept"))))
      yield* Effect.sleep("100 millis")
      assert.deepEqual(yield* Queue.takeAll(received), [key("kept")])
    })
  ),

  scopedRule(
    "delivers no change from before the subscription",
    Effect.gen(function* () {
      const feed = yield* ChangeFeed
      const first = yield* listenTo(feed)
      yield* feed.publish(key("before"))
      yield* Queue.take(first)
      const late = yield* listenTo(feed)
      yield* feed.publish(key("after"))
      assert.deepEqual(yield* Queue.take(late), key("after"))
    })
  )
]
