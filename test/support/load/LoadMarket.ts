/**
 * A market for load: one provider with one tool without free calls, and consumers with large balances.
 */
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { json, post } from "../servers/ServiceProcess.ts"
import type { EchoProvider } from "./EchoProvider.ts"

/** Half a microcent of fee: the rounding shows. */
export const PRICE = 12_345

/** One machine makes many calls, and calls itself. */
export const OPEN_TO_LOAD = {
  RATE_LIMIT_RPM: "0",
  RATE_LIMIT_IP_RPM: "0",
  RATE_LIMIT_REGISTER_RPM: "0",
  CALLS_IN_FLIGHT_MAX: "0",
  ALLOW_UPSTREAM: "loopback"
}

export interface LoadMarket {
  readonly providerId: string
  readonly providerKey: string
  readonly toolId: string
  readonly buyers: ReadonlyArray<string>
}

type Fields = Readonly<Record<string, unknown>>

export const loadMarket = Effect.fnUntraced(function* (
  url: string,
  provider: Pick<EchoProvider, "url">,
  { buyers = 8, cents = 100_000, tool = {} }: { buyers?: number; cents?: number; tool?: Fields } = {}
) {
  const tools = [{ tool_name: "echo", price_microcents: PRICE, free_tier_calls: 0, ...tool }]
  const registered = yield* posted(`${url}/api/market/register-provider`, {
    name: "Echo Works",
    email: "echo@example.org",
    endpoint_url: provider.url,
    tools
  })
  const keys = yield* Effect.forEach(Array.from({ length: buyers }), () => aFundedConsumer(url, cents))
  const market: LoadMarket = {
    providerId: String(registered["provider_id"]),
    providerKey: String(registered["api_key"]),
    toolId: (registered["tools"] as ReadonlyArray<{ readonly id: string }>)[0]!.id,
    buyers: keys
  }
  return market
})

export const aFundedConsumer = Effect.fnUntraced(function* (url: string, cents: number) {
  const consumer = yield* posted(`${url}/api/market/register-consumer`, { name: "Agent", email: "agent@example.org" })
  const key = String(consumer["api_key"])
  if (cents > 0) yield* posted(`${url}/api/market/balance/load`, { amount_cents: cents }, key)
  return key
})

export interface Wallet {
  readonly balance: number
  readonly held: number
}

export const walletOf = (url: string, key: string) =>
  Effect.map(json(`${url}/api/v1/market/balance`, { headers: { authorization: `Bearer ${key}` } }), ({ body }) => {
    const wallet: Wallet = { balance: Number(body["balance_microcents"]), held: Number(body["held_microcents"]) }
    return wallet
  })

export const posted = (url: string, body: unknown, key?: string) =>
  Effect.map(post(url, body, key), (answer) => {
    assert.isBelow(answer.status, 300, `${url}: ${JSON.stringify(answer.body)}`)
    return answer.body
  })
