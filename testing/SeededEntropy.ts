/**
 * IDs and secrets from a seed instead of random ones, so that a run can be repeated exactly.
 */
import { Clock, Effect, Layer } from "effect"
import { Entropy } from "../domain/shared/Cryptography.ts"
import { randomFrom } from "./Random.ts"

const DIGITS = "0123456789abcdef"
const COUNTER_MAX = 0x1_000

export const layer = (seed: number) =>
  Layer.sync(Entropy, () => {
    const random = randomFrom(seed)
    let lastMs = 0
    let counter = 0
    const digits = (count: number): string => Array.from({ length: count }, () => DIGITS[random.below(16)]!).join("")
    return Entropy.of({
      uuid: Effect.map(Clock.currentTimeMillis, (nowMs) => {
        counter++
        if (counter === COUNTER_MAX) {
          counter = 0
          lastMs++
        }
        lastMs = Math.max(lastMs, nowMs)
        const time = lastMs.toString(16).padStart(12, "0")
        const order = counter.toString(16).padStart(3, "0")
        return `${time.slice(0, 8)}-${time.slice(8)}-7${order}-8${digits(3)}-${digits(12)}`
      }),
      hex: (byteCount) => Effect.sync(() => digits(byteCount * 2))
    })
  })
