/**
 * A provider's tool whose stored schema has a pattern that would be rejected now: the tool's page in the console says why the
 * pattern is not checked.
 */
import { assert, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { browser, hasBrowser } from "../../support/market/Browser.ts"
import { aSeller, listed } from "../../support/market/HttpMarket.ts"
import { PostgresTest } from "../../support/servers/PostgresTest.ts"
import { entered, follow, openTab, seen } from "../../support/market/ProviderPage.ts"
import { ready } from "../../support/servers/ServiceProcess.ts"

const SLOW = { type: "object", properties: { text: { type: "string", pattern: "^(a+)+$" } } }
const FAST = { type: "object", properties: { text: { type: "string", pattern: "^a+$" } } }

it.live.skipIf(!hasBrowser)(
  "the page of a tool says why a stored pattern is not checked, and nothing where all are checked",
  () =>
    Effect.gen(function* () {
      const { url } = yield* ready({
        PROFILE: "production",
        PAYMENTS: "dry_run",
        DATABASE_URL: Redacted.value((yield* PostgresTest).url),
        RECEIPT_SIGNING_SECRET: "the secret of the pages' tests, 32 characters or more",
        LOG_SIGNING_KEY: "5eed".repeat(16),
        ALLOW_UPSTREAM: "loopback",
        LOG_LEVEL: "Error"
      })
      const { seller } = yield* aSeller(url)
      yield* listed(
        seller,
        { tool_name: "slow", price_microcents: 500, input_schema: FAST },
        { tool_name: "fast", price_microcents: 500, input_schema: FAST }
      )
      const sql = yield* SqlClient.SqlClient
      yield* sql`UPDATE tools SET input_schema = ${JSON.stringify(SLOW)}::json WHERE tool_name = 'slow'`

      const { complaints, page } = yield* entered(yield* browser, url, seller.key)
      yield* openTab(page, "Tools")
      yield* follow(page, ".console-main", "slow")
      assert.match(
        yield* seen(page, ".console-main"),
        /Not checked: input_schema: the pattern "\^\(a\+\)\+\$" .*linear time/u
      )
      yield* openTab(page, "Tools")
      yield* follow(page, ".console-main", "fast")
      assert.notInclude(yield* seen(page, ".console-main"), "Not checked")
      assert.deepStrictEqual(complaints, [])
    }).pipe(Effect.provide(PostgresTest.layer), Effect.scoped),
  240_000
)
