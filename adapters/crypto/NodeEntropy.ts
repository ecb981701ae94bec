/**
 * Random bytes from Node's cryptographic source, drawn in blocks: a system call per id would cost more than the id.
 * Ids are UUIDs of version 7 (RFC 9562): milliseconds of the Clock, a counter within the millisecond, randomness.
 */
import { Clock, Effect, Layer } from "effect"
import { randomFillSync } from "node:crypto"
import { Entropy } from "../../domain/shared/Entropy.ts"

const POOL_BYTES = 4_096
const COUNTER_MAX = 0xfff
/** A clock that steps back by less is taken for the last time seen, so ids stay in order; beyond, it is believed. */
const CLOCK_STEP_BACK_MS_MAX = 10_000

export const layer = Layer.sync(Entropy, () => {
  const take = randomPool()
  let lastMs = -Infinity
  let counter = 0

  const tick = (nowMs: number): void => {
    if (nowMs > lastMs || lastMs - nowMs > CLOCK_STEP_BACK_MS_MAX) {
      lastMs = nowMs
      // Half of the room is left for the ids that follow within the same millisecond.
      counter = take(2).readUInt16BE() & (COUNTER_MAX >> 1)
    } else if (counter < COUNTER_MAX) {
      counter++
    } else {
      lastMs++
      counter = 0
    }
  }

  return Entropy.of({
    uuid: Effect.withFiber((fiber) => {
      tick(Math.max(0, Math.floor(fiber.getRef(Clock.Clock).currentTimeMillisUnsafe())))
      const time = lastMs.toString(16).padStart(12, "0")
      const random = take(8)
      random[0] = (random[0]! & 0x3f) | 0x80
      const tail = random.toString("hex")
      const version = `7${counter.toString(16).padStart(3, "0")}`
      return Effect.succeed(`${time.slice(0, 8)}-${time.slice(8)}-${version}-${tail.slice(0, 4)}-${tail.slice(4)}`)
    }),
    hex: (byteCount) => Effect.sync(() => take(byteCount).toString("hex"))
  })
})

/** Each byte is handed out once and wiped from the pool: what it hands out become secrets. */
const randomPool = (): ((byteCount: number) => Buffer) => {
  const pool = Buffer.allocUnsafeSlow(POOL_BYTES)
  let used = POOL_BYTES
  return (byteCount) => {
    if (byteCount > POOL_BYTES) return randomFillSync(Buffer.allocUnsafeSlow(byteCount))
    if (used + byteCount > POOL_BYTES) {
      randomFillSync(pool)
      used = 0
    }
    const taken = Buffer.from(pool.subarray(used, used + byteCount))
    pool.fill(0, used, used + byteCount)
    used += byteCount
    return taken
  }
}
