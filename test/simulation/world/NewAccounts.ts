/**
 * A new account adds funds up to a limit per day. Counted from paid checkouts, by the UTC day of their order.
 */
import { Effect } from "effect"
import { wrong } from "./Asking.ts"
import type { World } from "./World.ts"

const DAY_MS = 24 * 3_600_000

export const makeNewAccountCheck = ({ facts, processor, terms }: World) =>
  Effect.suspend(() => {
    const loaded = new Map<string, number>()
    for (const { amountCents, consumerId, orderedAtMs, state } of processor.checkouts.values()) {
      const ageMs = orderedAtMs - (facts.joinedAtMs.get(consumerId) ?? 0)
      if (state !== "paid" || ageMs > (terms.newAccountDays - 1) * DAY_MS) continue
      const day = `${consumerId} on ${new Date(orderedAtMs).toISOString().slice(0, 10)}`
      const sum = (loaded.get(day) ?? 0) + amountCents
      if (sum > terms.newAccountLoadCentsPerDay) {
        return wrong("a new account loads little", `${day}: ${sum} cents of ${terms.newAccountLoadCentsPerDay}`)
      }
      loaded.set(day, sum)
    }
    return Effect.void
  })
