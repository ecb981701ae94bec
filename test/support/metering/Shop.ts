/**
 * A market with tools to sell: providers with one tool, consumers with funds, and what both see afterwards.
 */
import { assert } from "@effect/vitest"
import { Effect, type Schema } from "effect"
import type { Source } from "../../../src/config/AppConfig.ts"
import {
  aConsumer,
  aProvider,
  at,
  expecting,
  listAt,
  listedTool,
  type Member,
  putTools,
  textAt,
  valueAt
} from "../market/Market.ts"
import { type Call, everyService, send, ServiceUnderTest } from "../market/ServiceUnderTest.ts"
import type { Answer } from "../checks/Answer.ts"

export const PROXY = "/api/market/proxy"
export const METER = "/api/v1/market/meter"
export const LOAD = "/api/market/balance/load"
export const BALANCE = "/api/v1/market/balance"
export const RECEIPTS = "/api/v1/market/receipts"
export const GRANTS = "/api/v1/market/grants"
const TRIAL_BALANCE = "/api/v1/market/ledger/trial-balance"

/** Half a microcent of fee: the rounding shows. */
export const PRICE = 12_345
export const FEE = 1_235

const OPEN_FOR_TESTS: Source = { ALLOW_UPSTREAM: "loopback", PAYMENTS: "dry_run", DEFAULT_FREE_TIER_CALLS: "0" }

export const memoryMarket = (settings: Source = {}) => ServiceUnderTest.memory({ ...OPEN_FOR_TESTS, ...settings })

export const postgresMarket = (settings: Source = {}) => ServiceUnderTest.postgres({ ...OPEN_FOR_TESTS, ...settings })

/** For races, and for what only a database does. */
export const everyMarket = (settings: Source = {}) => everyService({ ...OPEN_FOR_TESTS, ...settings })

export interface Offer {
  readonly provider: Member
  readonly toolId: string
  readonly toolName: string
}

type Fields = Readonly<Record<string, unknown>>

/** A provider's only tool, `echo` by default. */
export const anOffer = Effect.fnUntraced(function* (endpointUrl: string, tool: Fields = {}, provider: Fields = {}) {
  return yield* offerOf(yield* aProvider({ endpoint_url: endpointUrl, ...provider }), tool)
})

export const offerOf = Effect.fnUntraced(function* (provider: Member, tool: Fields = {}) {
  const put = yield* putTools(provider, { tool_name: "echo", price_microcents: PRICE, ...tool })
  const offer: Offer = {
    provider,
    toolId: textAt(put, "tools", 0, "id"),
    toolName: textAt(put, "tools", 0, "tool_name")
  }
  return offer
})

/** As the catalog shows it. */
export const qualifiedNameOf = ({ provider, toolName }: Offer) =>
  Effect.map(listedTool(provider, toolName), (tool) => String(valueAt(tool, "qualified_name")))

export const load = (consumer: Member, cents: number, headers: Readonly<Record<string, string>> = {}) =>
  send({ path: LOAD, key: consumer.key, json: { amount_cents: cents }, headers })

/** With 1 000 000 microcents by default. */
export const aFundedConsumer = Effect.fnUntraced(function* (cents = 100, profile: Fields = {}) {
  const consumer = yield* aConsumer(profile)
  if (cents > 0) assert.strictEqual((yield* load(consumer, cents)).status, 200)
  return consumer
})

export const callOf = (
  consumer: Member,
  offer: Pick<Offer, "toolId">,
  more: Fields = {},
  idempotencyKey?: string
): Call => ({
  path: PROXY,
  key: consumer.key,
  json: { tool_id: offer.toolId, input: {}, ...more },
  headers: idempotencyKey === undefined ? {} : { "idempotency-key": idempotencyKey }
})

export const buy = (consumer: Member, offer: Pick<Offer, "toolId">, more: Fields = {}, idempotencyKey?: string) =>
  send(callOf(consumer, offer, more, idempotencyKey))

export interface Wallet {
  readonly balance: number
  readonly held: number
  readonly available: number
}

export const walletOf = (consumer: Member): Effect.Effect<Wallet, never, ServiceUnderTest> =>
  Effect.map(expecting(200, { path: BALANCE, key: consumer.key }), (answer) => ({
    balance: numberAt(answer, "balance_microcents"),
    held: numberAt(answer, "held_microcents"),
    available: numberAt(answer, "available_microcents")
  }))

export interface WireReceipt {
  readonly receipt_id: string
  readonly tool_id: string
  readonly tool_name: string
  readonly agent_id: string
  readonly provider_id: string
  readonly timestamp: string
  readonly duration_ms: number
  readonly cost_microcents: number
  readonly status: string
  readonly signature: string
  readonly created_at: string
}

/** At most a hundred, newest first. */
export const receiptsOf = (owner: Member, query = "") =>
  Effect.map(
    expecting(200, { path: `${RECEIPTS}?limit=100${query}`, key: owner.key }),
    (answer) => listAt(answer, "receipts") as unknown as ReadonlyArray<WireReceipt>
  )

export interface Books {
  readonly wallets: bigint
  readonly providers: bigint
  readonly fees: bigint
}

let reads = 0

/** Totals of every account of the market, balanced; never a cached response. */
export const books = Effect.gen(function* () {
  const answer = yield* expecting(200, { path: `${TRIAL_BALANCE}?utm_read=${++reads}` })
  assert.strictEqual(at(answer, "balanced"), true, answer.text)
  assert.strictEqual(at(answer, "total_credits_microcents"), at(answer, "total_debits_microcents"))
  assert.strictEqual(at(answer, "unbacked_microcents"), 0, answer.text)
  const balanceOf = (account: string): bigint => {
    const row = listAt(answer, "accounts").find((one) => valueAt(one, "account") === account)
    return row === undefined ? 0n : BigInt(String(valueAt(row, "balance_microcents")))
  }
  const totals: Books = {
    wallets: balanceOf("wallet"),
    providers: balanceOf("provider") + balanceOf("provider_frozen"),
    fees: balanceOf("platform_fee")
  }
  return totals
})

export const numberAt = (answer: Answer, ...path: ReadonlyArray<string | number>): number => {
  const found = at(answer, ...path)
  if (typeof found === "number") return found
  throw new Error(`There is no number at ${path.join(".")} of ${answer.text.slice(0, 1_000)}`)
}

export const problemOf = (answer: Answer): readonly [number, Schema.Json | undefined] => [
  answer.status,
  at(answer, "code")
]
