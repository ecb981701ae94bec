/**
 * Claims come before payouts: nothing is paid out while an older claim is open, and nothing is left to a provider that owes.
 */
import { Context, Effect, Option } from "effect"
import { ClaimStore } from "../../../domain/earnings/Claims.ts"
import type { Payout } from "../../../domain/earnings/PayoutStore.ts"
import { LedgerStore } from "../../../domain/ledger/LedgerStore.ts"
import { ProviderId } from "../../../domain/shared/Ids.ts"
import { type DisputeId, DisputeStore } from "../../../domain/trust/DisputeStore.ts"
import { wrong } from "./Asking.ts"
import type { World } from "./World.ts"

export const makeClaimChecks = ({ facts, stores }: World) => {
  const claims = Context.get(stores, ClaimStore)
  const ledger = Context.get(stores, LedgerStore)
  const disputes = Context.get(stores, DisputeStore)
  const seen = new Set<DisputeId>()

  const isOver = Effect.fnUntraced(function* ({ createdAt, id, providerId }: Payout) {
    if ((yield* claims.owedBy(providerId)) === 0n) return
    for (const { amount, creditor, debtor, paid, createdAt: since } of yield* claims.ofSubjects([...facts.disputes])) {
      if (debtor !== providerId || creditor === undefined || amount === paid) continue
      if (since.epochMilliseconds < createdAt.epochMilliseconds - AT_ONCE_MS) {
        return yield* wrong("claims come first", `payout ${id} of ${providerId} that owes ${amount - paid}`)
      }
    }
  })

  /** What was decided and not refunded at once is owed to the consumer. */
  const restsAreOwed = Effect.gen(function* () {
    for (const id of facts.disputes) {
      const dispute = seen.has(id) ? undefined : Option.getOrUndefined(yield* disputes.find(id))
      if (dispute?.decision === undefined) continue
      seen.add(id)
      if (dispute.status !== "resolved_refund") continue
      const owed = (yield* claims.ofSubjects([id]))
        .filter(({ creditor }) => creditor === dispute.consumerId)
        .reduce((sum, { amount }) => sum + amount, 0n)
      const { amount, refunded } = dispute.decision
      if (refunded + owed !== dispute.cost || amount !== dispute.cost) {
        return yield* wrong("claims are kept", `${id} over ${dispute.cost}: ${refunded} refunded, ${owed} owed`)
      }
    }
  })

  return {
    afterEach: Effect.gen(function* () {
      yield* restsAreOwed
      for (const payout of facts.freshPayouts.splice(0)) yield* isOver(payout)
    }),
    /** When all work is done. */
    atTheEnd: Effect.gen(function* () {
      for (const id of facts.providers.map((one) => ProviderId.make(one.id))) {
        const owed = yield* claims.owedBy(id)
        const { credits, debits } = yield* ledger.balance("provider", id)
        if (owed > 0n && credits > debits) {
          return yield* wrong("claims come first", `${id} owes ${owed} and has ${credits - debits}`)
        }
      }
    })
  }
}

/** What is decided while a payout begins may come too late for it. */
const AT_ONCE_MS = 5 * 60_000
