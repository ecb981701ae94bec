/**
 * Calls beyond the rate limit of a key at a provider's door: an SDK would report HTTP 429 as a broken transport.
 */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { aDoor, fine, SETTINGS } from "../../support/mcp/ADoor.ts"
import { at, billingOf, textOf } from "../../support/mcp/DoorClient.ts"
import { rpc } from "../../support/mcp/LegacyClients.ts"
import { RawHttp } from "../../support/servers/RawHttp.ts"
import { LIVE } from "../../support/market/ServiceUnderTest.ts"

const RPM = 10

it.layer(RawHttp.layer({ ...SETTINGS, RATE_LIMIT_RPM: String(RPM) }), LIVE)(
  "Beyond the rate limit of its key",
  (it) => {
    it.effect("a call is a result that says when to retry, and any other request gets 429", () =>
      Effect.gen(function* () {
        const { call, key, send, server, url } = yield* aDoor(fine)
        let answer = yield* call()
        for (let n = 0; n < 2 * RPM && at(billingOf(answer), "code") === undefined; n++) answer = yield* call()
        assert.strictEqual(answer.status, 200)
        assert.strictEqual(at(answer.body, "id"), 1)
        assert.strictEqual(at(answer.body, "result", "isError"), true)
        assert.strictEqual(at(answer.body, "result", "resultType"), "complete")
        assert.include(billingOf(answer) as object, { code: "RATE_LIMITED", charged: false, retryable: true })
        assert.isAtLeast(Number(at(billingOf(answer), "retry_after_ms")), 1_000)
        assert.match(
          textOf(answer),
          /^Too many requests: the limit is 10 a minute\. Retry after \d+ seconds?\. Nothing was charged\.$/u
        )
        assert.isAbove(Number(answer.headers.get("retry-after")), 0)
        const forwarded = server.of("tools/call").length
        assert.isAtMost(forwarded, RPM)
        assert.strictEqual((yield* send({ method: "tools/list" })).status, 429)
        const long = { name: "echo", arguments: { text: "x".repeat(70_000) } }
        assert.strictEqual((yield* send({ method: "tools/call", params: long })).status, 429)
        const legacy = { jsonrpc: "2.0", id: "a", method: "tools/call", params: { name: "echo" } }
        const refused = yield* Effect.promise(async () => (await rpc({ door: url, key }, legacy)).json())
        assert.deepStrictEqual([at(refused, "id"), at(refused, "result", "isError")], ["a", true])
        assert.isUndefined(at(refused, "result", "structuredContent"))
        assert.strictEqual(server.of("tools/call").length, forwarded)
      })
    )
  }
)
