/**
 * `forget` as it is typed, beside a running service.
 */
import { assert, it } from "@effect/vitest"
import { DateTime, Effect, Option, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { randomUUID } from "node:crypto"
import * as PostgresTaskStore from "../../adapters/sql/tasks/PostgresTaskStore.ts"
import { ConsumerId, ProviderId, receiptIdOf } from "../../domain/shared/Ids.ts"
import { TaskStore } from "../../domain/tasks/CallTask.ts"
import { until } from "../support/servers/EmbeddedFolders.ts"
import { PostgresTest } from "../support/servers/PostgresTest.ts"
import { finished, json, post, ready } from "../support/servers/ServiceProcess.ts"

const NAME = "Zanzibar"
const SECRETS = {
  RECEIPT_SIGNING_SECRET: "a secret of the tests, 32 characters or more",
  LOG_SIGNING_KEY: "0".repeat(64),
  PAYMENTS: "dry_run",
  LOG_LEVEL: "Error"
}

/** Results of tasks are what the account's agents were told. */
const aSettledTask = (consumer: string) =>
  Effect.gen(function* () {
    const store = yield* TaskStore
    const at = yield* DateTime.now
    const id = randomUUID()
    yield* store.add({
      id,
      consumerId: ConsumerId.make(consumer),
      providerId: ProviderId.make(randomUUID()),
      endpointUrl: "https://example.org/mcp",
      session: undefined,
      invocationId: receiptIdOf(randomUUID(), 0),
      upstreamId: "task-1",
      keyHash: undefined,
      terms: "{}",
      createdAt: at,
      progress: {
        state: "{}",
        pollMs: 1_000,
        expiresAt: DateTime.add(at, { hours: 1 }),
        askedAt: at,
        dueAt: at,
        failures: 0,
        waitedMs: 0,
        waitingSince: undefined
      },
      canceled: false,
      ended: undefined,
      final: undefined
    })
    yield* store.end(id, "{}", at)
    yield* store.settle(id, { status: "completed", text: `{"content":"of ${NAME}"}` }, 1_000)
    return id
  }).pipe(Effect.provide(PostgresTaskStore.layer))

const isKept = (id: string) =>
  Effect.flatMap(TaskStore, (store) => Effect.map(store.find(id), Option.isSome)).pipe(
    Effect.provide(PostgresTaskStore.layer)
  )

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
        for (const [args, says] of [
          [["--by", "Ada"], "account-id"],
          [[id], "--by"],
          [[id, "--by", " "], "--by must have 1 to"],
          [["not-an-id", "--by", "Ada"], "not-an-id is not the id of a consumer or a provider"]
        ] as const) {
          const wrong = yield* forget(...args)
          assert.deepStrictEqual([wrong.code, wrong.output], [1, ""])
          assert.include(wrong.problem, says, args.join(" "))
        }
        const [its, others] = yield* Effect.forEach([id, randomUUID()], aSettledTask)

        const refused = yield* forget(id, "--by", "Ada")
        assert.strictEqual(refused.code, 1)
        assert.include(refused.problem, "still has $1.00")
        assert.include(refused.problem, "--leave-money")
        assert.strictEqual(yield* status, 200)
        assert.isTrue(yield* isKept(its!))

        const done = yield* forget(id, "--by", "Ada, ticket 4711", "--leave-money")
        assert.strictEqual(done.code, 0, done.problem)
        assert.include(done.output, `The consumer ${id} was erased by Ada, ticket 4711 at 20`)
        assert.include(done.output, "$1.00 stays in the ledger")
        yield* until(
          "the key is rejected",
          Effect.map(status, (now) => now === 401)
        )
        assert.deepStrictEqual([yield* isKept(its!), yield* isKept(others!)], [false, true])
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
