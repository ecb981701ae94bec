/**
 * Rules of calls: each opened call ends in one signed receipt, in the log after its round, for at most what was delivered.
 * Nothing is billed twice, and responses to clients stay true.
 */
import { Context, Effect, Option } from "effect"
import { CatalogStore } from "../../../domain/catalog/CatalogStore.ts"
import { LogStore } from "../../../domain/log/LogStore.ts"
import { CallStore } from "../../../domain/metering/CallStore.ts"
import { type Receipt, Receipts, ReceiptStore } from "../../../domain/receipts/Receipts.ts"
import type { ReceiptId } from "../../../domain/shared/Ids.ts"
import { format } from "../../../domain/shared/Time.ts"
import { wrong } from "../world/Asking.ts"
import type { World } from "../world/World.ts"
import type { Books } from "./Books.ts"
import type { OpenedCall } from "./Facts.ts"
import type { Violation } from "./Violation.ts"

export type OfReceipt = (receipt: Receipt, opened: OpenedCall) => Effect.Effect<void, Violation>

/** `others`: what else is checked of each receipt when it is first seen. */
export const makeReceiptChecks = (world: World, books: Books, others: ReadonlyArray<OfReceipt>) => {
  const { facts, providers, stores } = world
  const calls = Context.get(stores, CallStore)
  const receipts = Context.get(stores, ReceiptStore)
  const log = Context.get(stores, LogStore)
  const catalog = Context.get(stores, CatalogStore)
  /** Receipts that cost something, by what was asked for: a word of a request, or a key. */
  const billed = new Map<string, ReceiptId>()

  const freeUsed = new Map<string, number>()

  /** What the books say now of calls that were opened. */
  const followPending = Effect.gen(function* () {
    for (const [id, opened] of facts.pending) {
      const outcome = yield* calls.outcome(opened.call.consumerId, id)
      if (outcome._tag === "Open") continue
      if (outcome._tag === "Unknown") return yield* wrong("one receipt per call", `${id} was held, and is not known`)
      const receipt = Option.getOrUndefined(yield* receipts.find(id))
      if (receipt === undefined) return yield* wrong("one receipt per call", `${id} is closed and has no receipt`)
      facts.pending.delete(id)
      facts.receipts.set(id, receipt)
      facts.heldFees.set(id, opened.call.feeBasisPoints)
      facts.unplaced.add(id)
      yield* holdToSignature(receipt)
      yield* holdToDelivery(receipt, opened)
      yield* billedOnce(receipt, opened)
      yield* freeAreCounted(opened, receipt)
      books.bill(receipt)
      for (const holds of others) yield* holds(receipt, opened)
    }
  })

  const forwardedWereHeld = Effect.suspend(() => {
    const [repeated] = providers.repeated
    if (repeated !== undefined) return wrong("forwarded once", `${repeated} came to its provider twice`)
    for (const id of providers.fresh.splice(0)) {
      if (!facts.pending.has(id) && !facts.receipts.has(id)) {
        return wrong("one receipt per call", `${id} was forwarded and never held`)
      }
    }
    return Effect.void
  })

  const holdToSignature = Effect.fnUntraced(function* (receipt: Receipt) {
    const { reason, valid } = yield* Effect.orDie(world.service(Receipts).verify(receipt))
    if (!valid) return yield* wrong("receipts verify", `${receipt.receipt_id}: ${reason}`)
  })

  /** A success was one, and costs what was agreed; a failure costs nothing, unless the tool charges attempts. */
  const holdToDelivery = Effect.fnUntraced(function* (receipt: Receipt, { call, free, held }: OpenedCall) {
    const { cost_microcents: cost, receipt_id: id, status } = receipt
    const forwarded = providers.forwarded.get(id)
    const tool = facts.tools.find((one) => one.id === receipt.tool_id)
    // From when on they are charged is a matter of `Agreements`.
    const chargesAttempts = tool !== undefined && tool.attempts.most() > 0
    if (cost > held) return yield* wrong("at most what was held", `${id} costs ${cost} of ${held}`)
    if (call.origin === "meter") return undefined
    if (status === "success" && forwarded?.status !== "success") {
      return yield* wrong("only what was delivered", `${id} says success, its provider ${forwarded?.status}`)
    }
    const price = yield* listPrice(call.toolId, call.priceVersion)
    const reported = forwarded?.reportedMicrocents
    // Of a failure it is not known whether the report came through.
    const due = reported === undefined ? [price] : status === "success" ? [BigInt(reported)] : [BigInt(reported), price]
    const charged = status === "success" || (chargesAttempts && cost > 0n)
    const expected = charged && !free ? due.map((one) => (one < held ? one : held)) : [0n]
    if (!expected.includes(cost)) return yield* wrong("what was agreed", `${id} (${status}) costs ${cost}: ${expected}`)
  })

  const listPrice = Effect.fnUntraced(function* (toolId: Receipt["tool_id"], version: number) {
    const prices = yield* catalog.prices(toolId, 1_000)
    return prices.find((one) => one.version === version)!.price as bigint
  })

  const billedOnce = Effect.fnUntraced(function* (receipt: Receipt, { call }: OpenedCall) {
    if (receipt.cost_microcents === 0n) return
    const word = providers.forwarded.get(receipt.receipt_id)?.word
    const key = call.idempotency === undefined ? undefined : `${call.consumerId} ${call.idempotency.keyHash}`
    for (const what of [word, key]) {
      const before = what === undefined ? undefined : billed.get(what)
      if (before !== undefined)
        return yield* wrong("nothing billed twice", `${before} and ${receipt.receipt_id} for ${what}`)
      if (what !== undefined) billed.set(what, receipt.receipt_id)
    }
  })

  /** Of a tool there are so many free calls for each consumer and month. */
  const freeAreCounted = ({ call, free }: OpenedCall, { status }: Receipt) => {
    if (!free || status !== "success") return Effect.void
    const tier = `${call.consumerId} ${call.toolId} ${format(call.openedAt).slice(0, 7)}`
    const used = (freeUsed.get(tier) ?? 0) + 1
    freeUsed.set(tier, used)
    const most = facts.tools.find((tool) => tool.id === call.toolId)!.terms.freeCalls
    return used <= most ? Effect.void : wrong("free calls are counted", `${tier}: ${used} of ${most}`)
  }

  const acknowledgedAreKept = Effect.gen(function* () {
    for (const { costMicrocents, receiptId, status } of facts.acknowledged.splice(0)) {
      const kept = Option.getOrUndefined(yield* receipts.find(receiptId))
      if (kept === undefined) return yield* wrong("nothing acknowledged and lost", `${receiptId} has no receipt`)
      if (Number(kept.cost_microcents) !== costMicrocents || kept.status !== status) {
        const said = `${status} for ${costMicrocents}`
        return yield* wrong(
          "nothing acknowledged and lost",
          `${receiptId}: ${said}, not ${JSON.stringify(kept.status)}`
        )
      }
    }
  })

  const sequencedAreLogged = Effect.gen(function* () {
    for (const id of facts.due) {
      if (Option.isNone(yield* log.find(id))) return yield* wrong("in the log", `${id} has no place after its round`)
      facts.due.delete(id)
      facts.unplaced.delete(id)
    }
  })

  return Effect.gen(function* () {
    yield* followPending
    yield* forwardedWereHeld
    yield* acknowledgedAreKept
    yield* sequencedAreLogged
  })
}
