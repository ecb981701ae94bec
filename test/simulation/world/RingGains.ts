/**
 * No ring takes out more real money than it put in, plus payments of others for calls, plus recorded losses of its
 * chargebacks. Counted at the processor and from receipts.
 */
import { Context, Effect, Option } from "effect"
import { ClaimStore } from "../../../domain/earnings/Claims.ts"
import { InvoiceStore } from "../../../domain/invoices/Invoice.ts"
import { LedgerStore } from "../../../domain/ledger/LedgerStore.ts"
import { ConsumerId } from "../../../domain/shared/Ids.ts"
import { DisputeStore } from "../../../domain/trust/DisputeStore.ts"
import { wrong } from "./Asking.ts"
import { makeFeeOf } from "../books/Books.ts"
import type { Ring } from "../books/Facts.ts"
import { makeProcessorBooks } from "../books/ProcessorBooks.ts"
import type { World } from "./World.ts"

const CENT = 10_000n

export const makeRingCheck = (world: World) => {
  const { facts, stores, terms } = world
  const ledger = Context.get(stores, LedgerStore)
  const disputes = Context.get(stores, DisputeStore)
  const invoices = Context.get(stores, InvoiceStore)
  const claims = Context.get(stores, ClaimStore)
  const books = makeProcessorBooks(world)
  const feeOf = makeFeeOf(facts)

  /** For calls of others, less the platform's fee. */
  const earnedFromOthers = ({ consumers, providers }: Ring): bigint => {
    let sum = 0n
    for (const { agent_id, cost_microcents: cost, provider_id, receipt_id: id } of facts.receipts.values()) {
      const isOwn = providers.some(({ id }) => id === provider_id)
      if (isOwn && !consumers.some(({ id }) => id === agent_id)) sum += cost - feeOf(id, cost)
    }
    return sum
  }

  const lostTo = Effect.fnUntraced(function* ({ consumers }: Ring) {
    let sum = 0n
    for (const { id } of consumers) {
      const { owedMicrocents } = yield* ledger.funds(ConsumerId.make(id))
      const out = books.goneBack((one) => one === id)
      sum += owedMicrocents < out ? owedMicrocents : out
    }
    return sum
  })

  /** The operator's own decisions to give: it is no fault of the service if they are unwise. */
  const givenTo = Effect.fnUntraced(function* ({ consumers }: Ring) {
    let sum = 0n
    const ids = new Set<string>(consumers.map(({ id }) => id))
    for (const id of facts.disputes) {
      const dispute = Option.getOrUndefined(yield* disputes.find(id))
      if (dispute?.status === "resolved_credit" && ids.has(dispute.consumerId)) sum += dispute.decision!.amount
    }
    for (const { id } of facts.corrected ? consumers : []) {
      const { items } = yield* invoices.list(ConsumerId.make(id), { after: undefined, limit: 1_000, offset: 0 })
      for (const { corrects, total } of items) if (corrects !== undefined) sum += total
    }
    return sum
  })

  /** Of platform funds, in its providers' place, within the limit that the operator set. */
  const advancedTo = Effect.fnUntraced(function* ({ providers }: Ring) {
    const limit = BigInt(terms.lossLimitCents) * CENT
    if (limit === 0n) return 0n
    const ids = new Set<string | undefined>(providers.map(({ id }) => id))
    const all = yield* claims.ofSubjects([...facts.disputes])
    const sum = all
      .filter(({ creditor, debtor }) => creditor === undefined && ids.has(debtor))
      .reduce((total, { amount, paid }) => total + amount - paid, 0n)
    return sum < limit ? sum : limit
  })

  return Effect.gen(function* () {
    for (const [number, ring] of facts.rings) {
      const isConsumer = (id: string) => ring.consumers.some((one) => one.id === id)
      const isProvider = (id: string) => ring.providers.some((one) => one.id === id)
      const out = books.paidOut(isProvider) + books.goneBack(isConsumer) + books.withdrawn(isConsumer)
      const into = books.loaded(isConsumer) + earnedFromOthers(ring)
      if (out <= into) continue
      const allowed = into + (yield* lostTo(ring)) + (yield* givenTo(ring)) + (yield* advancedTo(ring))
      if (out > allowed) return yield* wrong("no ring gains", `ring ${number} took out ${out}, and may have ${allowed}`)
    }
  })
}
