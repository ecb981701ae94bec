/**
 * `forget` as it is typed, beside a running service.
 */
import { assert, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { until } from "../support/EmbeddedFolders.ts"
import { PostgresTest } from "../support/PostgresTest.ts"
import { finished, json, post, ready } from "../support/ServiceProcess.ts"

const NAME = "Zanzibar"
const SECRETS = {
  RECEIPT_SIGNING_SECRET: "a secret of the tests, 32 characters or more",
  LOG_SIGNING_KEY: "0".repeat(64),
  PAYMENTS: "dry_run",
  LOG_LEVEL: "Error"
}

it.layer(PostgresTest.layer, { timeout: "300 seconds", excludeTestServices: true })("forget", (it) => {
  it.effect(
    "erases an account, whose key a running service rejects immediately, and keeps the ledger sound",
    () =>
      Effect.gen(function* () {
        const { url: database } = yield* PostgresTest
        const settings = { ...SECRETS, DATABASE_URL: Redacted.value(database) }
        const { url } = yield* ready(settings)
        const { body } = yield* post(`${url}/api/market/register-consumer`, { name: NAME, email: "z@person.example" })
        const [id, key] = [String(body["consumer_id"]), String(body["api_key"])]
        yield* post(`${url}/api/market/balance/load`, { amount_cents: 100 }, key)
        const headers = { authorization: `Bearer ${key}` }
        const status = Effect.map(json(`${url}/api/v1/market/balance`, { headers }), (answer) => answer.status)
        assert.strictEqual(yield* status, 200)

        const forget = (...args: ReadonlyArray<string>) => finished(["forget", ...args], { settings })
        for (const args of [[id], ["not-an-id", "--by", "Ada"]]) {
          const wrong = yield* forget(...args)
          assert.deepStrictEqual([wrong.code, wrong.output], [1, ""])
          assert.include(wrong.problem, "Usage: forget", args.join(" "))
        }
        const refused = yield* forget(id, "--by", "Ada")
        assert.strictEqual(refused.code, 1)
        assert.include(refused.problem, "still has 1000000 microcents")
        assert.strictEqual(yield* status, 200)

        const done = yield* forget(id, "--by", "Ada, ticket 4711", "--leave-money")
        assert.strictEqual(done.code, 0, done.problem)
        assert.include(done.output, `The consumer ${id} was erased by Ada, ticket 4711 at 20`)
        assert.include(done.output, "1000000 microcents stay in the ledger")
        yield* until(
          "the key is rejected",
          Effect.map(status, (now) => now === 401)
        )
        const sql = yield* SqlClient.SqlClient
        const left = yield* sql`SELECT id FROM consumers c WHERE c::text LIKE ${`%${NAME}%`}`
        assert.deepStrictEqual(left, [])
        for (const command of ["audit", "fsck"]) {
          const check = yield* finished([command], { settings })
          assert.strictEqual(check.code, 0, check.problem)
        }
      }),
    240_000
  )
})
