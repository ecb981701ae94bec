/**
 * Hostile requests at both doors: each gets a response in time, none a failure of the service, and the books balance.
 */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { RawHttp } from "../support/servers/RawHttp.ts"
import type { DoorMarket } from "../support/mcp/DoorMarket.ts"
import { type HostileRequest, hostileRequests } from "../support/mcp/servers/HostileMessages.ts"
import { strangerMarket } from "../support/mcp/StrangerMarket.ts"

const SEED = Number(process.env["FUZZ_SEED"] ?? 20_261_123)
const REQUESTS = Number(process.env["FUZZ_REQUESTS"] ?? 500)
const AT_ONCE = 16
const ANSWERED_MS_MAX = 60_000

const send = ({ key }: DoorMarket, url: string, { body, headers, method }: HostileRequest) =>
  Effect.promise(async () => {
    const gone = new AbortController()
    const timer = setTimeout(() => gone.abort(new Error("no response")), ANSWERED_MS_MAX)
    try {
      const response = await fetch(url, {
        method,
        headers: { ...headers, authorization: `Bearer ${key}` },
        signal: gone.signal,
        ...(body === undefined ? {} : { body })
      })
      const isStream = response.headers.get("content-type")?.startsWith("text/event-stream") === true
      const text = isStream ? "" : await response.text()
      return { status: response.status, text, contentType: response.headers.get("content-type") ?? "" }
    } finally {
      clearTimeout(timer)
      // Ends a stream.
      gone.abort()
    }
  })

const SESSIONS = 4

/** Sessions of a legacy client. A door without any gives none. */
const sessionsAt = ({ key }: DoorMarket, url: string) =>
  Effect.promise(async () => {
    const found: Array<string> = []
    for (let n = 0; n < SESSIONS; n++) {
      const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "hostile", version: "1" } }
      const response = await fetch(url, {
        method: "POST",
        headers: {
          "content-type": "application/json",
          accept: "application/json, text/event-stream",
          authorization: `Bearer ${key}`
        },
        body: JSON.stringify({ jsonrpc: "2.0", id: n, method: "initialize", params })
      })
      await response.text()
      const id = response.headers.get("mcp-session-id")
      if (id !== null) found.push(id)
    }
    return found
  })

it.layer(RawHttp.layer({ PAYMENTS: "dry_run", ALLOW_UPSTREAM: "loopback" }), {
  timeout: "120 seconds",
  excludeTestServices: true
})("Hostile messages", (it) => {
  it.effect(
    `${REQUESTS} of them at each door are answered, without a failure, and leave the books balanced`,
    () =>
      Effect.gen(function* () {
        const market = yield* strangerMarket(10_000)
        for (const url of [market.door, market.market]) {
          const requests = hostileRequests(SEED, REQUESTS, yield* sessionsAt(market, url))
          const statuses = yield* Effect.forEach(
            requests,
            Effect.fnUntraced(function* (request, n) {
              const { contentType, status, text } = yield* send(market, url, request)
              const shown = `${n}: ${request.method} ${JSON.stringify(request.headers).slice(0, 400)} ${request.body?.slice(0, 300)}`
              assert.isBelow(status, 500, `${shown} -> ${text.slice(0, 300)}`)
              if (/json/u.test(contentType) && text !== "")
                assert.doesNotThrow(() => JSON.parse(text) as unknown, shown)
              return status
            }),
            { concurrency: AT_ONCE }
          )
          // Some are no worse than unusual.
          if (url === market.door) assert.isAbove(statuses.filter((status) => status === 200).length, REQUESTS / 20)
        }
        const origin = new URL(market.door).origin
        const books = yield* Effect.promise(async () => {
          const response = await fetch(`${origin}/api/v1/market/ledger/trial-balance`)
          return (await response.json()) as { readonly balanced?: boolean }
        })
        assert.strictEqual(books.balanced, true)
      }),
    600_000
  )
})
