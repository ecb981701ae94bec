/**
 * Calls and their receipts for rules about calls: complete, with new ids; a rule overrides fields.
 */
import { DateTime, Effect } from "effect"
import type { BudgetStore } from "../../../domain/ledger/Budgets.ts"
import type { Ledger } from "../../../domain/ledger/Ledger.ts"
import { FEE_BASIS_POINTS_DEFAULT } from "../../../domain/ledger/PlatformFee.ts"
import { CallStore, type CloseCall, type OpenCall } from "../../../domain/metering/CallStore.ts"
import { Entropy } from "../../../domain/shared/Cryptography.ts"
import { type ConsumerId, LevelId, receiptIdOf, ToolId } from "../../../domain/shared/Ids.ts"
import { format } from "../../../domain/shared/Time.ts"
import { type Rule, rule } from "./Contract.ts"
import { aProviderId, type LedgerStores, money, OPENED_AT, overStores, uuid } from "./LedgerSamples.ts"

/** The ports that share the money of calls. */
export type Books = BudgetStore | CallStore | LedgerStores

/** A rule about calls, with the Ledger over the same books. */
export const callRule = <E>(title: string, check: Effect.Effect<void, E, Ledger | Entropy | Books>): Rule<Books> =>
  rule(title, Effect.provide(check, overStores))

export const aToolId = Effect.map(uuid, (id) => ToolId.make(id))

export const aLevelId = Effect.map(uuid, (id) => LevelId.make(id))

/** Of a call with the default fee. */
export const aReceiptId = Effect.map(uuid, (id) => receiptIdOf(id, FEE_BASIS_POINTS_DEFAULT))

/** Made at this time, as the id of a call that opens or is reported then. */
export const receiptIdAt = (at: DateTime.Utc) =>
  Effect.map(uuid, (id) => {
    const digits = at.epochMilliseconds.toString(16).padStart(12, "0")
    return receiptIdOf(`${digits.slice(0, 8)}-${digits.slice(8)}${id.slice(13)}`, FEE_BASIS_POINTS_DEFAULT)
  })

/** A call for 1,000 microcents, without free tier and idempotency key. */
export const aCall = Effect.fnUntraced(function* (consumerId: ConsumerId, changes: Partial<OpenCall> = {}) {
  const openedAt = changes.openedAt ?? OPENED_AT
  const feeBasisPoints = changes.feeBasisPoints ?? FEE_BASIS_POINTS_DEFAULT
  const call: OpenCall = {
    invocationId: receiptIdOf(yield* uuid, feeBasisPoints),
    consumerId,
    providerId: yield* aProviderId,
    toolId: yield* aToolId,
    toolName: "search_web",
    priceVersion: 1,
    holdAmount: money(1_000),
    feeBasisPoints,
    freeTierCalls: 0,
    origin: "proxy",
    openedAt,
    deadlineAt: DateTime.add(openedAt, { seconds: 30 }),
    idempotency: undefined,
    ...changes
  }
  return call
})

export interface Ending {
  readonly cost?: bigint | number
  readonly held?: bigint | number
  readonly status?: CloseCall["receipt"]["status"]
  readonly cause?: CloseCall["cause"]
  readonly answer?: CloseCall["answer"]
  readonly free?: boolean
  readonly usesFreeCall?: boolean
  readonly requestId?: string
  readonly holdMs?: number
  /** Default: 130 ms after the call began. */
  readonly createdAt?: DateTime.Utc
  readonly sign?: (receipt: Omit<CloseCall["receipt"], "signature">) => string
}

/** Default: at the full price, with a random signature. `held` is not always right: a store must not rely on it. */
export const closingOf = Effect.fnUntraced(function* (call: OpenCall, ending: Ending = {}) {
  const cost = money(ending.cost ?? call.holdAmount)
  const unsigned = {
    receipt_id: call.invocationId,
    tool_id: call.toolId,
    tool_name: call.toolName,
    agent_id: call.consumerId,
    provider_id: call.providerId,
    timestamp: format(call.openedAt),
    duration_ms: 123,
    cost_microcents: cost,
    status: ending.status ?? "success",
    created_at: format(ending.createdAt ?? DateTime.add(call.openedAt, { milliseconds: 130 }))
  }
  const closing: CloseCall = {
    consumerId: call.consumerId,
    receipt: { ...unsigned, signature: ending.sign?.(unsigned) ?? (yield* (yield* Entropy).hex(32)) },
    cause: ending.cause,
    feeBasisPoints: call.feeBasisPoints,
    held: ending.held === undefined ? claimedHold(call) : money(ending.held),
    priceVersion: call.priceVersion,
    origin: call.origin,
    requestBytes: 200,
    responseBytes: 3_000,
    tokensInput: 40,
    tokensOutput: 50,
    free: ending.free,
    usesFreeCall: ending.usesFreeCall,
    requestId: ending.requestId,
    holdMs: ending.holdMs,
    answer: ending.answer
  }
  return closing
})

/** Undefined for three calls in sixteen, wrong for one. */
const claimedHold = ({ holdAmount, invocationId }: OpenCall): CloseCall["held"] => {
  const drawn = Number.parseInt(invocationId.slice(-5, -4), 16)
  return drawn < 12 ? holdAmount : drawn < 15 ? undefined : money(holdAmount === 0n ? 1n : holdAmount - 1n)
}

/** Opens a call; dies if it is rejected. */
export const opened = Effect.fnUntraced(function* (call: OpenCall) {
  const answer = yield* (yield* CallStore).open(call)
  return answer._tag === "Opened" ? answer : yield* Effect.die(new Error(`Not opened: ${answer._tag}`))
})

/** Opens and closes a call; dies if either is rejected. */
export const settled = Effect.fnUntraced(function* (call: OpenCall, ending: Ending = {}) {
  const { free } = yield* opened(call)
  const closing = yield* closingOf(call, { free, ...ending })
  const answer = yield* (yield* CallStore).close(closing)
  return answer._tag === "Closed" ? closing : yield* Effect.die(new Error(`Not closed: ${answer._tag}`))
})

export const tagsOf = (answers: ReadonlyArray<{ readonly _tag: string }>): Readonly<Record<string, number>> => {
  const counts: Record<string, number> = {}
  for (const { _tag } of answers) counts[_tag] = (counts[_tag] ?? 0) + 1
  return counts
}
