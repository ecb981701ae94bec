import { assert, it } from "@effect/vitest"
import { Effect, type Layer, Queue, Stream } from "effect"
import { type Change, ChangeFeed } from "../../domain/shared/ChangeFeed.ts"
import { UnitOfWork } from "../../domain/shared/UnitOfWork.ts"
import { LIVE } from "../support/PostgresTest.ts"
import type { Ports } from "./ports.ts"

/** All changes from now on. */
export const listenTo = Effect.fnUntraced(function* (feed: ChangeFeed["Service"]) {
  const heard = yield* Queue.unbounded<Change>()
  yield* feed.changes.pipe(
    Stream.runForEach((change) => Queue.offer(heard, change)),
    Effect.forkScoped({ startImmediately: true })
  )
  return heard
})

const key = (id: string): Change => ({ topic: "key", id })

export const changeFeedContract = (name: string, ports: Layer.Layer<Ports>) =>
  it.layer(ports, LIVE)(`ChangeFeed over ${name}`, (it) => {
    it.effect("delivers every change to every reader, once and in order", () =>
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
        for (const reader of [one, other]) assert.deepStrictEqual(yield* Queue.takeN(reader, 5), changes)
        yield* Effect.sleep("100 millis")
        assert.strictEqual(yield* Queue.size(one), 0)
      })
    )

    it.effect("delivers a change after its unit of work is committed", () =>
      Effect.gen(function* () {
        const feed = yield* ChangeFeed
        const { atomically } = yield* UnitOfWork
        const heard = yield* listenTo(feed)
        const unit = Effect.gen(function* () {
          yield* feed.publish(key("outer"))
          yield* atomically(feed.publish(key("inner")))
          yield* Effect.sleep("100 millis")
          assert.strictEqual(yield* Queue.size(heard), 0)
        })
        yield* atomically(unit)
        assert.deepStrictEqual(yield* Queue.takeN(heard, 2), [key("outer"), key("inner")])
      })
    )

    it.effect("delivers nothing of a unit of work that fails", () =>
      Effect.gen(function* () {
        const feed = yield* ChangeFeed
        const { atomically } = yield* UnitOfWork
        const heard = yield* listenTo(feed)
        const failing = Effect.andThen(feed.publish(key("taken back")), Effect.fail("no"))
        yield* Effect.flip(atomically(failing))
        yield* atomically(Effect.andThen(Effect.flip(atomically(failing)), feed.publish(key("kept"))))
        yield* Effect.sleep("100 millis")
        assert.deepStrictEqual(yield* Queue.takeAll(heard), [key("kept")])
      })
    )

    it.effect("delivers no change from before the subscription", () =>
      Effect.gen(function* () {
        const feed = yield* ChangeFeed
        const first = yield* listenTo(feed)
        yield* feed.publish(key("before"))
        yield* Queue.take(first)
        const late = yield* listenTo(feed)
        yield* feed.publish(key("after"))
        assert.deepStrictEqual(yield* Queue.take(late), key("after"))
      })
    )
  })
