/**
 * A market as its users see it over HTTP: a provider with tools, developers with funds, calls.
 */
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { join } from "node:path"
import { fine, providing } from "../metering/Provider.ts"
import { json, post, ready } from "../servers/ServiceProcess.ts"

export const OPERATOR_KEY = "operator_key_of_the_browser_tests_0001"
const CLOCK = join(import.meta.dirname, "../jumpingClock.ts")

/** A service whose calendar is this many days behind until it is told to jump to today. */
export const behind = Effect.fnUntraced(function* (days: number, settings: Readonly<Record<string, string>> = {}) {
  const service = yield* ready({
    PROFILE: "memory",
    LOG_LEVEL: "Error",
    OPERATOR_KEY,
    CLOCK_DAYS_BEHIND: String(days),
    NODE_OPTIONS: `--import=${CLOCK}`,
    ...settings
  })
  const today = Effect.promise(async () => {
    service.child.kill("SIGUSR2")
    await new Promise((resolve) => setTimeout(resolve, 200))
  })
  return { ...service, today }
})

export interface Seller {
  readonly url: string
  readonly id: string
  readonly key: string
}

type Body = Readonly<Record<string, unknown>>

export const posted = Effect.fnUntraced(function* (url: string, body: unknown, key?: string) {
  const answer = yield* post(url, body, key)
  assert.isBelow(answer.status, 300, `${url}: ${JSON.stringify(answer.body)}`)
  return answer.body
})

export const got = Effect.fnUntraced(function* (url: string, key: string) {
  const { body, status } = yield* json(url, { headers: { authorization: `Bearer ${key}` } })
  assert.strictEqual(status, 200, url)
  return body
})

export const aSeller = Effect.fnUntraced(function* (url: string, changes: Body = {}) {
  const upstream = yield* providing(fine)
  const made = yield* posted(`${url}/api/market/register-provider`, {
    name: "Ada Tools",
    email: "ada@example.org",
    endpoint_url: upstream.url,
    ...changes
  })
  const seller: Seller = { url, id: String(made["provider_id"]), key: String(made["api_key"]) }
  return { seller, upstream }
})

export const listed = (seller: Seller, ...tools: ReadonlyArray<Body>) =>
  posted(`${seller.url}/api/market/tools`, { tools }, seller.key)

export const aDeveloper = Effect.fnUntraced(function* (url: string, name = "Grace") {
  const made = yield* posted(`${url}/api/market/register-consumer`, {
    name,
    email: `${name.toLowerCase().replaceAll(/\W/gu, "")}@example.net`,
    rate_limit_rpm: 6_000
  })
  return String(made["api_key"])
})

export const loaded = (url: string, key: string, cents: number) =>
  posted(`${url}/api/market/balance/load`, { amount_cents: cents }, key)

export const bought = (url: string, key: string, toolName: string, times: number) =>
  Effect.forEach(Array.from({ length: times }), () =>
    Effect.map(posted(`${url}/api/market/proxy`, { tool_name: toolName, input: {} }, key), (body) =>
      String((body["meta"] as Body)["receipt_id"])
    )
  )

export const disputed = (url: string, key: string, receiptId: string, more: Body = {}) =>
  posted(`${url}/api/v1/market/disputes`, { receipt_id: receiptId, reason: "quality", ...more }, key)
