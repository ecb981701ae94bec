/**
 * Tools whose stored schema has a pattern that would be rejected now: they keep working, and their provider sees why the
 * pattern is not checked.
 */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { at, expecting, putTools, TOOLS } from "../../support/market/Market.ts"
import { fine, forwarded, providing } from "../../support/metering/Provider.ts"
import { aFundedConsumer, anOffer, buy, PRICE } from "../../support/metering/Shop.ts"
import { PostgresTest } from "../../support/servers/PostgresTest.ts"
import { LIVE, send, ServiceUnderTest } from "../../support/market/ServiceUnderTest.ts"
import { connectedTo } from "../../support/servers/TestDatabases.ts"

const SCHEMA = {
  type: "object",
  properties: { text: { type: "string", pattern: "^(a+)+$" }, size: { type: "integer" } }
}

it.layer(ServiceUnderTest.postgres({ ALLOW_UPSTREAM: "loopback" }), LIVE)(
  "a stored schema with a slow pattern",
  (it) => {
    it.effect("is checked without it; its provider sees why, and can send it again, but no other tool with it", () =>
      Effect.gen(function* () {
        const server = yield* providing(fine)
        const offer = yield* anOffer(server.url, { input_schema: { type: "object" } })
        const { url } = yield* PostgresTest
        yield* Effect.flatMap(
          SqlClient.SqlClient,
          (sql) => sql`UPDATE tools SET input_schema = ${JSON.stringify(SCHEMA)}::json WHERE id = ${offer.toolId}`
        ).pipe(connectedTo(url))
        const consumer = yield* aFundedConsumer(1_000)
        const passed = yield* buy(consumer, offer, { input: { text: `${"a".repeat(50)}!`, size: 1 } })
        assert.strictEqual(passed.status, 200, passed.text)
        const refused = yield* buy(consumer, offer, { input: { text: "a", size: "1" } })
        assert.strictEqual(refused.status, 422, refused.text)
        assert.deepStrictEqual(at(refused, "details", 0, "path"), ["input", "size"])
        assert.strictEqual(forwarded(server), 1)

        const { key } = offer.provider
        const shown = yield* expecting(200, { path: `${TOOLS}/${offer.toolId}`.replace("/api/", "/api/v1/"), key })
        assert.match(String(at(shown, "unchecked", 0)), /^input_schema: the pattern "\^\(a\+\)\+\$" .*linear time/u)
        yield* putTools(offer.provider, { tool_name: offer.toolName, price_microcents: PRICE, input_schema: SCHEMA })
        const other = yield* send({ path: TOOLS, key, json: { tools: [{ tool_name: "other", input_schema: SCHEMA }] } })
        assert.strictEqual(other.status, 422, other.text)
        assert.match(String(at(other, "tool_errors", 0, "error")), /linear time/u)
      })
    )
  }
)
