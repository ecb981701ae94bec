/**
 * Load through the proxy as real clients make it: each connection has one call in flight at a time, and continues
 * after any outcome. Every other connection sends an idempotency key with each call and, without a response or after
 * a temporary error, sends the same call again until its outcome is known. Responses are recorded, to be compared
 * with the ledger.
 */
import { Effect, Fiber } from "effect"
import { Client } from "undici"

export interface Acknowledged {
  readonly call: string
  readonly receiptId: string
  readonly cost: bigint
}

export interface Heard {
  readonly acknowledged: ReadonlyArray<Acknowledged>
  readonly statuses: ReadonlyMap<number, number>
  /** Requests whose connection ended before a response. */
  readonly lost: number
  /** Calls that were answered only when they were repeated under their key. */
  readonly repeated: number
  /** Responses that no client should get: no problem document, an internal error, a 503 without `Retry-After`. At most a few. */
  readonly unclean: ReadonlyArray<string>
  readonly slowestMs: number
}

export interface Load {
  readonly heard: Heard
  /** Every connection ends after its call in flight. */
  readonly stop: Effect.Effect<Heard>
}

export interface LoadOptions {
  readonly url: string
  readonly connections: number
  /** Their keys; connections use them in turn. */
  readonly buyers: ReadonlyArray<string>
  readonly toolId: string
  /** A client's timeout. */
  readonly patienceMs?: number
}

/** A call of the load that has a key shows it in its name. */
export const isKeyed = (call: string): boolean => call.startsWith("keyed")

const PAUSE_MS = 40
const UNCLEAN_KEPT_MAX = 10
/** Statuses that are no bug: rate limits, unavailability and timeouts. */
const PASSING: ReadonlySet<number> = new Set([429, 502, 503, 504])
let loads = 0

export const callLoad = Effect.fnUntraced(function* (options: LoadOptions) {
  const run = ++loads
  const heard = {
    acknowledged: [] as Array<Acknowledged>,
    statuses: new Map<number, number>(),
    lost: 0,
    repeated: 0,
    unclean: [] as Array<string>,
    slowestMs: 0
  }
  const state = { isOver: false }

  const send = async (client: Client, buyer: string, call: string): Promise<number> => {
    const sentAt = performance.now()
    const { body, headers, statusCode } = await client.request({
      method: "POST",
      path: "/api/market/proxy",
      headers: {
        authorization: `Bearer ${buyer}`,
        "content-type": "application/json",
        ...(isKeyed(call) ? { "idempotency-key": call } : {})
      },
      body: JSON.stringify({ tool_id: options.toolId, input: { call } })
    })
    const text = await body.text()
    heard.slowestMs = Math.max(heard.slowestMs, performance.now() - sentAt)
    heard.statuses.set(statusCode, (heard.statuses.get(statusCode) ?? 0) + 1)
    if (statusCode === 200) {
      const { cost_microcents: cost, receipt_id: receiptId } = (JSON.parse(text) as Delivered).meta
      heard.acknowledged.push({ call, receiptId, cost: BigInt(cost) })
      if (headers["idempotent-replay"] !== undefined) heard.repeated++
    } else if (!isClean(statusCode, headers, text) && heard.unclean.length < UNCLEAN_KEPT_MAX) {
      heard.unclean.push(`${statusCode} ${text.slice(0, 500)}`)
    }
    return statusCode
  }

  const converse = async (connection: number): Promise<void> => {
    const patience = { headersTimeout: options.patienceMs ?? 20_000, bodyTimeout: options.patienceMs ?? 20_000 }
    const client = new Client(options.url, { pipelining: 1, keepAliveTimeout: 60_000, ...patience })
    const buyer = options.buyers[connection % options.buyers.length]!
    for (let n = 0; !state.isOver; n++) {
      const call = `${connection % 2 === 0 ? "keyed" : "plain"}-${run}-${connection}-${n}`
      for (let isKnown = false; !isKnown && !state.isOver;) {
        const status = await send(client, buyer, call).catch(() => {
          heard.lost++
          return 0
        })
        // In flight in another process, which may have died: the sweeper ends it.
        isKnown = !isKeyed(call) || (status !== 0 && !PASSING.has(status))
        if (status === 0 || PASSING.has(status)) await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
      }
    }
    await client.close().catch(() => client.destroy())
  }

  const clients = yield* Effect.forkScoped(
    Effect.promise(() => Promise.all(Array.from({ length: options.connections }, (_, n) => converse(n))))
  )
  const stop = Effect.suspend(() => {
    state.isOver = true
    return Effect.as(Fiber.join(clients), heard as Heard)
  })
  const load: Load = { heard, stop }
  return yield* Effect.as(
    Effect.addFinalizer(() => Effect.sync(() => (state.isOver = true))),
    load
  )
})

interface Delivered {
  readonly meta: { readonly cost_microcents: number; readonly receipt_id: string }
}

const isClean = (status: number, headers: Readonly<Record<string, unknown>>, text: string): boolean =>
  status !== 500 &&
  (status !== 503 || Number(headers["retry-after"]) >= 1) &&
  headers["content-type"] === "application/problem+json" &&
  typeof (JSON.parse(text) as { readonly code?: unknown }).code === "string"
