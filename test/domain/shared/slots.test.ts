/**
 * Slots of one limit: the workers of a node never take more than it together, and all of it where their work is spread.
 */
import { assert, it } from "@effect/vitest"
import { Effect, Random } from "effect"
import { ownSlots, type Slots, workerSlots } from "../../../domain/shared/Slots.ts"

/** As a supervisor lends. */
const makeLender = () => {
  const lent = new Map<string, number>()
  return {
    lent,
    borrow: (key: string, poolMax: number) =>
      Effect.sync(() => {
        const count = lent.get(key) ?? 0
        if (count >= poolMax) return false
        lent.set(key, count + 1)
        return true
      }),
    giveBack: (key: string) => void lent.set(key, lent.get(key)! - 1)
  }
}

const taken = (slots: Slots, key: string): Effect.Effect<boolean> => {
  const room = slots.take(key)
  return typeof room === "boolean" ? Effect.succeed(room) : room
}

it.effect("of one process are as many as the limit, for each key", () =>
  Effect.gen(function* () {
    const slots = ownSlots(2)
    assert.deepStrictEqual(yield* Effect.forEach(["a", "a", "b", "a"], (key) => taken(slots, key)), [
      true,
      true,
      true,
      false
    ])
    slots.leave("a")
    assert.isTrue(yield* taken(slots, "a"))
    const unlimited = workerSlots(2, makeLender())("calls", 0)
    for (let n = 0; n < 100; n++) assert.isTrue(yield* taken(unlimited, "a"))
  })
)

it.effect("of several workers are never more than the limit, and all of it where they take turns", () =>
  Effect.gen(function* () {
    for (const workers of [1, 2, 3, 8]) {
      for (const max of [1, 2, 7, 64]) {
        const lender = makeLender()
        const all = Array.from({ length: workers }, () => workerSlots(workers, lender)("calls", max))
        const counts = all.map(() => 0)
        const total = () => counts.reduce((sum, count) => sum + count, 0)
        for (let step = 0; step < 500; step++) {
          const at = yield* Random.nextIntBetween(0, workers - 1)
          if (counts[at]! > 0 && (yield* Random.nextBoolean)) {
            all[at]!.leave("one")
            counts[at]!--
          } else if (yield* taken(all[at]!, "one")) counts[at]!++
          assert.isAtMost(total(), max, `${workers} workers`)
        }
        for (let n = 0; n < workers * max; n++) if (yield* taken(all[n % workers]!, "one")) counts[n % workers]!++
        assert.strictEqual(total() <= max && total() > max / 2, true)
        for (const [at, slots] of all.entries()) for (; counts[at]! > 0; counts[at]!--) slots.leave("one")
        assert.strictEqual(lender.lent.get("calls one") ?? 0, 0, "what was lent has come back")
        for (let n = 0; n < workers * max; n++) if (yield* taken(all[n % workers]!, "one")) counts[n % workers]!++
        assert.strictEqual(total(), max, `${workers} workers that take turns have ${max}`)
      }
    }
  })
)
