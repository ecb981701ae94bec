/**
 * The history of each provider's fee explains the fee in each receipt's id. It is read here as a list of changes, without
 * regard to what the operator asked for: `Fees.ts` checks that.
 */
import { Context, Effect } from "effect"
import { AccountStore } from "../../../domain/accounts/Account.ts"
import type { Receipt } from "../../../domain/receipts/Receipts.ts"
import { wrong } from "../world/Asking.ts"
import type { World } from "../world/World.ts"
import type { OpenedCall } from "./Facts.ts"

/** Clocks are set by that much at most. */
const SKEW_MS = 30 * 60_000

export const makeFeeHistoryCheck = ({ stores, terms }: World) => {
  const accounts = Context.get(stores, AccountStore)
  return Effect.fnUntraced(function* ({ provider_id, receipt_id: id }: Receipt, { openedAtMs }: OpenedCall) {
    const [fromMs, untilMs] = [openedAtMs - SKEW_MS, openedAtMs + SKEW_MS]
    const allowed = new Set<number>()
    let replacedMs = Infinity
    for (const { at, fee } of yield* Effect.orDie(accounts.feeHistory(provider_id))) {
      const announcedMs = fee.upcoming?.effectiveFrom.epochMilliseconds ?? Infinity
      const spans = [
        [at.epochMilliseconds, Math.min(announcedMs, replacedMs), fee.own],
        [announcedMs, replacedMs, fee.upcoming?.own]
      ] as const
      for (const [since, until, own] of spans) {
        if (since < until && since <= untilMs && until >= fromMs) allowed.add(own ?? terms.feeBasisPoints)
      }
      replacedMs = at.epochMilliseconds
    }
    const named = Number.parseInt(id.slice(-4), 16)
    if (!allowed.has(named)) {
      return yield* wrong(
        "the history explains the fee",
        `${id} names ${named} basis points, and the history of ${provider_id} has ${[...allowed].join()} then`
      )
    }
  })
}
