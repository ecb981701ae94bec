/**
 * Doors of a service whose consumers pay through Stripe's double, on a real socket.
 */
import { assert } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { HeldStripe, stripeSettings } from "../market/HeldStripe.ts"
import { posted } from "../load/LoadMarket.ts"
import { RawHttp } from "../servers/RawHttp.ts"
import { fine } from "./ADoor.ts"
import { aServerOf, type Era } from "./EitherEra.ts"

export const PRICE = 10_000
export const LOADED = 50_000_000
const CENTS = 5_000
export const ECHO_CALL = { name: "echo", arguments: {} }

export const stripeService = Layer.unwrap(
  Effect.map(HeldStripe, (stripe) => RawHttp.layer({ ...stripeSettings(stripe), RATE_LIMIT_RPM: "1000" }))
).pipe(Layer.provideMerge(HeldStripe.layer))

export const base = Effect.map(RawHttp, ({ port }) => `http://127.0.0.1:${port}`)

export const delivered = Effect.gen(function* () {
  const { webhooks } = yield* HeldStripe
  const url = `${yield* base}/api/webhooks/stripe`
  for (const event of webhooks.held.splice(0)) {
    const headers = {
      "content-type": "application/json; charset=utf-8",
      "stripe-signature": webhooks.signatureOf(event)
    }
    const response = yield* Effect.promise(() => fetch(url, { method: "POST", body: event.body, headers }))
    assert.strictEqual(response.status, 200, event.type)
  }
})

export const aConsumer = Effect.fnUntraced(function* (more: object = {}) {
  const made = yield* posted(`${yield* base}/api/market/register-consumer`, {
    name: "Agent",
    email: "agent@example.org",
    ...more
  })
  return String(made["api_key"])
})

/** Pays on the hosted page; returns the payment. */
export const funded = Effect.fnUntraced(function* (key: string) {
  const stripe = yield* HeldStripe
  const ordered = yield* posted(`${yield* base}/api/market/balance/load`, { amount_cents: CENTS }, key)
  const session = String(ordered["session_id"])
  stripe.pay(session)
  yield* delivered
  return stripe.state.sessions.get(session)!.payment_intent!
})

export const aProvider = Effect.fnUntraced(function* (serverUrl: string, tool: object = {}) {
  const made = yield* posted(`${yield* base}/api/market/register-provider`, {
    name: "Echo Works",
    email: "echo@example.org",
    endpoint_url: serverUrl,
    tools: [{ tool_name: "echo", price_microcents: PRICE, ...tool }]
  })
  const [listed] = made["tools"] as ReadonlyArray<{ readonly id: string }>
  return { url: `${yield* base}/mcp/${String(made["provider_id"])}`, toolId: listed!.id }
})

export const aDoor = Effect.fnUntraced(function* (era: Era) {
  const server = yield* aServerOf(era, fine)
  return { ...(yield* aProvider(server.url)), server, calls: () => server.of("tools/call").length }
})
