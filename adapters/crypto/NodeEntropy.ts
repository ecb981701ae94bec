/**
 * Random bytes from Node's cryptographic source, drawn in blocks, because a system call per id would cost more than the
 * id. Ids are version 7 UUIDs (RFC 9562): milliseconds of the Clock, a counter within the millisecond, randomness.
 */
import { Clock, Effect, Layer } from "effect"
import { randomFillSync } from "node:crypto"
import { Entropy } from "../../domain/shared/Cryptography.ts"

const POOL_BYTES = 4_096
const COUNTER_MAX = 0xfff
/** If the clock steps back by less, the last time is kept, so ids stay in order; a larger step is followed. */
const CLOCK_STEP_BACK_MS_MAX = 10_000

export const layer = Layer.sync(Entropy, () => {
  const take = randomPool()
  const takeDigits = digitPool()
  let lastMs = -Infinity
  let counter = 0
  let writtenMs = -Infinity
  let written = ""

  const tick = (nowMs: number): void => {
    if (nowMs > lastMs || lastMs - nowMs > CLOCK_STEP_BACK_MS_MAX) {
      lastMs = nowMs
      // Half of the room is left for further ids of the same millisecond.
      counter = Number.parseInt(takeDigits(4), 16) & (COUNTER_MAX >> 1)
    } else if (counter < COUNTER_MAX) {
      counter++
    } else {
      lastMs++
      counter = 0
    }
  }

  /** The ids of one millisecond share it. */
  const writtenTime = (): string => {
    if (writtenMs !== lastMs) {
      writtenMs = lastMs
      const digits = lastMs.toString(16).padStart(12, "0")
      written = `${digits.slice(0, 8)}-${digits.slice(8)}`
    }
    return written
  }

  return Entropy.of({
    uuid: Effect.withFiber((fiber) => {
      tick(Math.max(0, Math.floor(fiber.getRef(Clock.Clock).currentTimeMillisUnsafe())))
      const digits = takeDigits(16)
      const tail = VARIANT[Number.parseInt(digits[0]!, 16) & 3]! + digits.slice(1)
      // The fixed digit in front of the counter is the version.
      return Effect.succeed(`${writtenTime()}-${(0x7000 | counter).toString(16)}-${tail.slice(0, 4)}-${tail.slice(4)}`)
    }),
    hex: (byteCount) => Effect.sync(() => take(byteCount).toString("hex"))
  })
})

/** The first digit of the RFC 9562 variant: two bits fixed, two random. */
const VARIANT = ["8", "9", "a", "b"] as const

/** Random digits for ids, one block at a time: ids are not secret, and slices of a string are cheapest. */
const digitPool = (): ((count: number) => string) => {
  let digits = ""
  let used = 0
  return (count) => {
    if (used + count > digits.length) {
      digits = randomFillSync(Buffer.allocUnsafeSlow(POOL_BYTES)).toString("hex")
      used = 0
    }
    used += count
    return digits.slice(used - count, used)
  }
}

/** Each byte is used once and removed from the pool, because it may become a secret. */
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
