/**
 * Which requests the Promise client sends again, with scripted answers in place of a service.
 */
import { assert, describe, it } from "@effect/vitest"
import { createClient } from "../../client/Client.ts"
import { NoAnswerError, ProblemError } from "../../client/Problem.ts"
import { backoffMs, DELAY_MS_MAX } from "../../client/Send.ts"

const answer = (status: number, body: object): Response => Response.json(body, { status })
const problem = (status: number, code: string, extra: object = {}): Response =>
  answer(status, { error: true, code, status, message: `The problem ${code}`, ...extra })
const fine = () => answer(200, { balance_microcents: 1 })
const lost = (): Response => {
  throw new TypeError("fetch failed")
}

/** A client whose attempts get these answers in turn. */
const scripted = (...answers: ReadonlyArray<() => Response>) => {
  const keys: Array<string | null> = []
  const client = createClient({
    baseUrl: "http://market.test",
    fetch: async (_, init) => {
      keys.push(new Headers(init?.headers).get("idempotency-key"))
      const next = answers[keys.length - 1]
      if (next === undefined) throw new Error("One attempt too many")
      return next()
    }
  })
  return { client, keys }
}

const load = { payload: { amount_cents: 100 } } as const

describe("The Promise client", () => {
  it.each([
    ["a lost connection", lost],
    ["a node that is overloaded", () => problem(503, "UNAVAILABLE")],
    ["an internal error", () => problem(500, "INTERNAL_ERROR")],
    ["a rate limit", () => problem(429, "RATE_LIMITED", { retry_after_seconds: 0 })],
    ["a first request that is in flight", () => problem(409, "IDEMPOTENCY_CONFLICT", { retry_after_seconds: 0 })],
    [
      "a proxy's error page",
      () => new Response("Bad gateway", { status: 502, headers: { "content-type": "text/html" } })
    ]
  ])("repeats a request with the same idempotency key after %s", async (_, failed) => {
    const { client, keys } = scripted(failed, fine)
    assert.property(await client.money.load(load), "balance_microcents")
    assert.lengthOf(keys, 2)
    assert.match(String(keys[0]), /^[0-9a-f-]{36}$/u)
    assert.strictEqual(keys[1], keys[0])
  })

  it.each([
    ["a problem that a retry does not solve", () => problem(402, "INSUFFICIENT_FUNDS")],
    ["a provider that failed", () => problem(502, "PROVIDER_ERROR", { receipt_id: "rcpt_1" })],
    ["a call that has ended with a receipt", () => problem(503, "UNAVAILABLE", { receipt_id: "rcpt_1" })],
    ["an idempotency key that was used for another request", () => problem(409, "IDEMPOTENCY_CONFLICT")],
    ["a wait that is too long", () => problem(429, "RATE_LIMITED", { retry_after_seconds: 3_600 })]
  ])("does not repeat a request after %s", async (_, failed) => {
    const { client, keys } = scripted(failed)
    const error = await client.money.load(load).catch((reason: unknown) => reason)
    assert.instanceOf(error, ProblemError)
    assert.lengthOf(keys, 1)
  })

  it("does not repeat a request that changes something and takes no key", async () => {
    const { client, keys } = scripted(lost)
    const error = await client.invoices.run({ payload: { month: "2026-01" } }).catch((reason: unknown) => reason)
    assert.instanceOf(error, NoAnswerError)
    assert.deepStrictEqual(keys, [null])
  })

  it("gives up after the last attempt, and says with which key to try again", async () => {
    const { client, keys } = scripted(lost, lost, lost)
    const error = await client.money.load(load).catch((reason: unknown) => reason)
    if (!(error instanceof NoAnswerError)) return assert.fail(String(error))
    assert.lengthOf(keys, 3)
    assert.strictEqual(error.idempotencyKey, keys[0])
  })

  it("sends the caller's key", async () => {
    const { client, keys } = scripted(fine)
    await client.money.load({ ...load, idempotencyKey: "mine" })
    assert.deepStrictEqual(keys, ["mine"])
  })

  it("stops when its signal is aborted, also while it waits, and names the key", async () => {
    const controller = new AbortController()
    const { client, keys } = scripted(() => {
      setTimeout(() => controller.abort(new Error("enough")), 0)
      return problem(429, "RATE_LIMITED", { retry_after_seconds: 20 })
    })
    const error = await client.money.load({ ...load, signal: controller.signal }).catch((reason: unknown) => reason)
    if (!(error instanceof NoAnswerError)) return assert.fail(String(error))
    assert.strictEqual((error.cause as Error).message, "enough")
    assert.strictEqual(error.idempotencyKey, keys[0])
    assert.lengthOf(keys, 1)
  })

  it("sends nothing when its signal was aborted before", async () => {
    const { client, keys } = scripted(fine)
    const signal = AbortSignal.abort(new Error("enough"))
    const error = await client.money.load({ ...load, signal }).catch((reason: unknown) => reason)
    if (!(error instanceof NoAnswerError)) return assert.fail(String(error))
    assert.strictEqual((error.cause as Error).message, "enough")
    assert.lengthOf(keys, 0)
  })

  it("waits for a first request that is in flight without using up its attempts", async () => {
    const inFlight = () => problem(409, "IDEMPOTENCY_CONFLICT", { retry_after_seconds: 0 })
    const { client, keys } = scripted(lost, inFlight, inFlight, inFlight, inFlight, fine)
    assert.property(await client.money.load(load), "balance_microcents")
    assert.lengthOf(new Set(keys), 1)
  })

  it("names the key in a problem too, because a request may have been executed", async () => {
    const { client, keys } = scripted(...Array.from({ length: 3 }, () => () => problem(503, "UNAVAILABLE")))
    const error = await client.money.load(load).catch((reason: unknown) => reason)
    if (!(error instanceof ProblemError)) return assert.fail(String(error))
    assert.strictEqual(error.idempotencyKey, keys[0])
  })

  it("does not repeat a request that ignores keys, even if the caller gives one", async () => {
    const { client, keys } = scripted(lost)
    const run = client.invoices.run({ payload: { month: "2026-01" }, idempotencyKey: "mine" })
    assert.instanceOf(await run.catch((reason: unknown) => reason), NoAnswerError)
    assert.deepStrictEqual(keys, ["mine"])
  })

  it("does not take a page of something else for a result", async () => {
    const page = () => new Response("<html>Sign in</html>", { headers: { "content-type": "text/html" } })
    const { client } = scripted(page, page, page)
    assert.instanceOf(await client.money.balance().catch((reason: unknown) => reason), NoAnswerError)
  })

  it("does not follow redirects", async () => {
    const modes: Array<string | undefined> = []
    const client = createClient({
      baseUrl: "http://market.test",
      fetch: async (_, init) => {
        modes.push(init?.redirect)
        return fine()
      }
    })
    await client.money.load(load)
    assert.deepStrictEqual(modes, ["error"])
  })

  it("drops the offset of the first page, and ends at a cursor that repeats", async () => {
    const urls: Array<string> = []
    const client = createClient({
      baseUrl: "http://market.test",
      fetch: async (url) => {
        urls.push(String(url))
        return answer(200, { receipts: [], next_cursor: "c1" })
      }
    })
    const pages = client.receipts.list.pages({ query: { offset: 10, limit: 5 } })
    for await (const page of pages) assert.isEmpty(page.receipts)
    assert.deepStrictEqual(
      urls.map((url) => new URL(url).search),
      ["?offset=10&limit=5", "?limit=5&cursor=c1"]
    )
  })

  it.each(["", ".", ".."])("rejects the path parameter %j", async (id) => {
    const { client, keys } = scripted()
    assert.instanceOf(await client.receipts.find({ params: { id } }).catch((reason: unknown) => reason), TypeError)
    assert.isEmpty(keys)
  })

  it("returns the result of a call although its progress callback fails", async () => {
    const events = 'event: progress\ndata: {"progress":1}\n\nevent: result\ndata: {"result":{}}\n\n'
    const { client } = scripted(() => new Response(events, { headers: { "content-type": "text/event-stream" } }))
    const called = client.calls.proxy({
      payload: { tool_name: "search", input: {} },
      onProgress: () => {
        throw new Error("the callback failed")
      }
    })
    assert.property(await called, "result")
  })

  it("waits longer after each attempt, up to a limit", () => {
    for (let attempt = 1; attempt < 20; attempt++) {
      const most = Math.min(250 * 2 ** (attempt - 1), DELAY_MS_MAX)
      assert.isAtLeast(backoffMs(attempt), most / 2)
      assert.isAtMost(backoffMs(attempt), most)
    }
  })
})
