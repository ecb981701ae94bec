/**
 * What an Entropy must do.
 */
import { Clock, Effect } from "effect"
import assert from "node:assert/strict"
import { Entropy } from "../../../domain/shared/Cryptography.ts"
import type { Contract } from "./Contract.ts"

const IDS = 5_000
/** An adapter may number ids of one millisecond with times of the next ones. */
const AHEAD_MS_MAX = 1_000
const msOf = (uuid: string): number => Number.parseInt(uuid.replace("-", "").slice(0, 12), 16)

export const entropyContract: Contract<Entropy> = [
  {
    title: "makes ids of version 7 with the time of the Clock",
    check: Effect.gen(function* () {
      const { uuid } = yield* Entropy
      const before = yield* Clock.currentTimeMillis
      const id = yield* uuid
      const after = yield* Clock.currentTimeMillis
      assert.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/u)
      assert.ok(msOf(id) >= before && msOf(id) <= after + AHEAD_MS_MAX, `${id} is not of the time ${before}`)
    })
  },
  {
    title: "makes unique ids in order, for any number in one millisecond",
    check: Effect.gen(function* () {
      const { uuid } = yield* Entropy
      const ids = yield* Effect.forEach(Array.from({ length: IDS }), () => uuid)
      assert.deepEqual(ids.toSorted(), ids)
      assert.equal(new Set(ids).size, IDS)
    })
  },
  {
    title: "returns the requested number of random bytes",
    check: Effect.gen(function* () {
      const { hex } = yield* Entropy
      for (const bytes of [0, 1, 32, 4_095, 4_096, 4_097, 10_000]) {
        assert.match(yield* hex(bytes), new RegExp(`^(?:[0-9a-f]{2}){${bytes}}$`, "u"))
      }
      const drawn = yield* Effect.forEach(Array.from({ length: IDS }), () => hex(32))
      assert.equal(new Set(drawn).size, IDS)
      const ones = drawn.join("").match(/[89a-f]/gu)!.length / (IDS * 64)
      assert.ok(Math.abs(ones - 0.5) < 0.01, `the share of high digits is ${ones}`)
    })
  }
]
