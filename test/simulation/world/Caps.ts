/**
 * Budgets and grants, counted from holds and receipts. Does not read what a store says is spent.
 */
import { DateTime, Effect } from "effect"
import { type Budget, startOfPeriod } from "../../../domain/ledger/Budgets.ts"
import type { OpenCall } from "../../../domain/metering/CallStore.ts"
import type { Reservation } from "../../../domain/metering/Grants.ts"
import type { ReceiptId } from "../../../domain/shared/Ids.ts"
import { Violation } from "../books/Violation.ts"

interface Counted {
  readonly id: ReceiptId
  readonly held: bigint
  /** Where its period began; a period that has begun does not end again for a clock that is behind. */
  readonly periodMs: number
}

/** A budget, and the calls that were begun after it was there. */
export interface Capped {
  readonly budget: Budget
  readonly sinceMs: number
  latestMs: number
  readonly calls: Array<Counted>
}

/** What is known of caps, and of what counts against them. */
interface Known {
  readonly budgets: ReadonlyArray<Capped>
  readonly granted: ReadonlyArray<{ readonly id: string; readonly cap: bigint }>
  readonly reserved: ReadonlyArray<Reserved>
  readonly receipts: ReadonlyMap<ReceiptId, { readonly cost_microcents: bigint }>
}

export const countHeld = (facts: Pick<Known, "budgets">, call: OpenCall, held: bigint): void => {
  for (const capped of facts.budgets) {
    if (capped.budget.consumerId !== call.consumerId || held === 0n) continue
    const start = startOfPeriod(capped.budget.period, call.openedAt)?.epochMilliseconds ?? 0
    capped.latestMs = Math.max(capped.latestMs, start)
    if (call.openedAt.epochMilliseconds <= capped.sinceMs) continue
    capped.calls.push({ id: call.invocationId, held, periodMs: capped.latestMs })
  }
}

export const capsHold = (facts: Known) =>
  Effect.gen(function* () {
    for (const { budget, calls } of facts.budgets) {
      const spent = new Map<number, bigint>()
      for (const { held, id, periodMs } of calls) {
        const counts = facts.receipts.get(id)?.cost_microcents ?? held
        const sum = (spent.get(periodMs) ?? 0n) + counts
        if (sum > budget.cap) return yield* wrong("budgets hold", `${budget.id}: ${sum} of ${budget.cap}, by its calls`)
        spent.set(periodMs, sum)
      }
    }
    const billed = new Map<string, bigint>()
    for (const { grantId, invocationId, periodStart } of facts.reserved) {
      const cap = facts.granted.find(({ id }) => id === grantId)?.cap
      const cost = facts.receipts.get(invocationId)?.cost_microcents ?? 0n
      const period = `${grantId} from ${DateTime.formatIso(periodStart)} on`
      const sum = (billed.get(period) ?? 0n) + cost
      if (cap !== undefined && sum > cap)
        return yield* wrong("grants hold", `${period}: ${sum} of ${cap}, by its calls`)
      billed.set(period, sum)
    }
  })

export type Reserved = Pick<Reservation, "grantId" | "invocationId" | "periodStart">

const wrong = (rule: string, detail: string) => Effect.fail(new Violation({ rule, detail }))
