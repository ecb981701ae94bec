/**
 * One account cannot keep the reads of others waiting.
 */
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import { readBy, writeBy } from "../../../adapters/http/contract/Endpoint.ts"
import type { RequestContext } from "../../../adapters/http/pipeline/Route.ts"
import { makeFairReads, READS_AT_ONCE_MAX } from "../../../adapters/http/pipeline/Reads.ts"

const read = (ownerId: string, changes: object = {}) =>
  ({
    caller: { role: "consumer", ownerId },
    route: { method: "GET", rule: readBy("consumer") },
    ...changes
  }) as unknown as RequestContext

const REPLY = { status: 200, headers: {}, body: "" }
const ASKED = 3 * READS_AT_ONCE_MAX

/** A stage whose reads take until `end`, and how many have begun. */
const slowReads = Effect.gen(function* () {
  const stage = makeFairReads()
  const done = yield* Deferred.make<void>()
  const begun = new Map<string, number>()
  const send = (context: RequestContext) =>
    Effect.forkChild(
      stage(context, ({ caller }) => {
        const owner = caller!.ownerId
        begun.set(owner, (begun.get(owner) ?? 0) + 1)
        return Effect.as(Deferred.await(done), REPLY)
      }),
      { startImmediately: true }
    )
  return { send, begun: (owner: string) => begun.get(owner) ?? 0, end: Deferred.succeed(done, undefined) }
})

describe("Reads", () => {
  it.effect("of one account run a few at a time, those of another at once, and all in the end", () =>
    Effect.gen(function* () {
      const { begun, end, send } = yield* slowReads
      const fibers = yield* Effect.forEach(Array.from({ length: ASKED }), () => send(read("a")))
      assert.strictEqual(begun("a"), READS_AT_ONCE_MAX)
      fibers.push(yield* send(read("b")))
      assert.strictEqual(begun("b"), 1)
      yield* end
      for (const fiber of fibers) assert.strictEqual((yield* Fiber.join(fiber)).status, 200)
      assert.strictEqual(begun("a"), ASKED)
    })
  )

  it.effect("that are given up leave their turn to others", () =>
    Effect.gen(function* () {
      const { begun, send } = yield* slowReads
      const fibers = yield* Effect.forEach(Array.from({ length: ASKED }), () => send(read("a")))
      yield* Fiber.interruptAll(fibers.slice(1))
      assert.strictEqual(begun("a"), READS_AT_ONCE_MAX)
      yield* send(read("a"))
      assert.strictEqual(begun("a"), READS_AT_ONCE_MAX + 1)
      yield* Fiber.interruptAll(fibers)
    })
  )

  it.effect("do not make writes, or the operator, wait", () =>
    Effect.gen(function* () {
      const { begun, send } = yield* slowReads
      const write = { route: { method: "POST", rule: writeBy("consumer") } }
      yield* Effect.forEach(Array.from({ length: ASKED }), () => send(read("a", write)))
      assert.strictEqual(begun("a"), ASKED)
      const operator = { caller: { role: "operator", ownerId: "operator" } }
      yield* Effect.forEach(Array.from({ length: ASKED }), () => send(read("", operator)))
      assert.strictEqual(begun("operator"), ASKED)
    })
  )
})
