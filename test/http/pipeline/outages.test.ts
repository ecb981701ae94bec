/**
 * Responses during an outage of ours: they say whose fault it is and when to retry, and reveal nothing internal.
 */
import { assert, it } from "@effect/vitest"
import { Clock, Effect, Layer, Schedule } from "effect"
import { SqlClient } from "effect/sql"
import { Stripe } from "stripe"
import { DatabaseLink } from "../../support/servers/DatabaseLink.ts"
import {
  aConsumer,
  aProvider,
  at,
  CATALOG,
  CONSUMERS,
  consumerBody,
  expecting,
  KEYS,
  putTools,
  textAt,
  TOOLS
} from "../../support/market/Market.ts"
import { PostgresTest } from "../../support/servers/PostgresTest.ts"
import { postgresConfig, wholeService } from "../../support/market/ServiceConfig.ts"
import { type Call, LIVE, send, ServiceUnderTest } from "../../support/market/ServiceUnderTest.ts"
import { connectedTo } from "../../support/servers/TestDatabases.ts"

const HEALTH = "/api/market/health"

const linked = (settings: Readonly<Record<string, string>> = {}) =>
  ServiceUnderTest.over(
    Layer.unwrap(Effect.map(DatabaseLink, ({ url }) => wholeService(postgresConfig(url, settings))))
  ).pipe(Layer.provideMerge(DatabaseLink.layer), Layer.provideMerge(PostgresTest.layerDatabase))

/** Fails if the response takes longer, whatever the database does. */
const within = (seconds: number, call: Call) =>
  Effect.timeoutOrElse(send(call), {
    duration: `${seconds} seconds`,
    orElse: () => Effect.die(new Error(`${call.path} was not answered within ${seconds} s`))
  })

const untilHealthy = Effect.repeat(send({ path: HEALTH }), {
  until: ({ status }) => status === 200,
  schedule: Schedule.spaced("50 millis")
}).pipe(
  Effect.timeoutOrElse({
    duration: "60 seconds",
    orElse: () => Effect.die(new Error("The service never came back"))
  })
)

it.layer(linked(), LIVE)("while the database is unavailable", (it) => {
  it.effect("health is degraded, with null for what it cannot count, and recovers afterwards", () =>
    Effect.gen(function* () {
      const link = yield* DatabaseLink
      const provider = yield* aProvider()
      yield* putTools(provider, { tool_name: "one" })
      const well = yield* expecting(200, { path: HEALTH })
      assert.deepStrictEqual([at(well, "status"), at(well, "provider_count"), at(well, "tool_count")], ["ok", 1, 1])
      for (const way of [link.cut, link.freeze]) {
        yield* way
        const sick = yield* within(30, { path: HEALTH })
        assert.strictEqual(sick.status, 503)
        assert.strictEqual(sick.headers["cache-control"], "no-store")
        assert.deepStrictEqual(
          [at(sick, "status"), at(sick, "provider_count"), at(sick, "tool_count")],
          ["degraded", null, null]
        )
        assert.isNumber(at(sick, "uptime_seconds"))
        yield* link.restore
        yield* untilHealthy
      }
    })
  )

  it.effect("every endpoint that needs it returns 503 with a Retry-After", () =>
    Effect.gen(function* () {
      const link = yield* DatabaseLink
      const provider = yield* aProvider()
      const consumer = yield* aConsumer()
      yield* expecting(200, { path: KEYS, key: consumer.key })
      yield* expecting(200, { path: KEYS, key: provider.key })
      const calls: ReadonlyArray<Call> = [
        { path: `${CATALOG}?q=nobody%20asked%20before` },
        { path: "/api/v1/market/pricing?limit=7" },
        { path: "/catalog/01990000-0000-7000-8000-000000000000" },
        { path: CONSUMERS, json: consumerBody() },
        { path: CONSUMERS, json: consumerBody(), headers: { "idempotency-key": "during the outage" } },
        { path: KEYS, key: consumer.key },
        { path: TOOLS, key: provider.key, json: { tools: [{ tool_name: "x" }] } }
      ]
      for (const way of [link.cut, link.refuse("57P03"), link.refuse("53300")]) {
        yield* way
        for (const call of calls) {
          const answer = yield* within(30, call)
          assert.strictEqual(answer.status, 503, `${call.path}: ${answer.text}`)
          assert.strictEqual(at(answer, "code"), "UNAVAILABLE")
          assert.isAbove(Number(answer.headers["retry-after"]), 0)
        }
        yield* link.restore
        yield* untilHealthy
      }
      const again = yield* expecting(201, {
        path: CONSUMERS,
        json: consumerBody(),
        headers: { "idempotency-key": "during the outage" }
      })
      assert.isUndefined(again.headers["idempotent-replay"])
    })
  )

  it.effect("endpoints that do not need it answer as usual", () =>
    Effect.gen(function* () {
      const link = yield* DatabaseLink
      yield* link.cut
      for (const path of ["/api/market", CONSUMERS]) yield* expecting(200, { path })
      yield* expecting(404, { path: "/nothing" })
      yield* expecting(401, { path: KEYS })
      yield* expecting(422, { path: CONSUMERS, json: {} })
      yield* link.restore
      yield* untilHealthy
    })
  )
})

const STRIPE = {
  PAYMENTS: "stripe",
  STRIPE_SECRET_KEY: "sk_test_outage",
  STRIPE_WEBHOOK_SECRET: "whsec_outage",
  STRIPE_API_BASE: "http://127.0.0.1:9"
}

it.layer(linked(STRIPE), LIVE)("a webhook during an outage of the database", (it) => {
  it.effect("gets 503, so that the processor sends it again, and is applied then", () =>
    Effect.gen(function* () {
      const link = yield* DatabaseLink
      const stripe = new Stripe(STRIPE.STRIPE_SECRET_KEY)
      const body = JSON.stringify({
        id: "evt_outage",
        object: "event",
        type: "checkout.session.completed",
        created: Math.floor((yield* Clock.currentTimeMillis) / 1_000),
        data: {
          object: {
            id: "cs_outage",
            object: "checkout.session",
            client_reference_id: "01990000-0000-7000-8000-000000000000",
            payment_status: "unpaid",
            status: "open"
          }
        }
      })
      const secret = STRIPE.STRIPE_WEBHOOK_SECRET
      const signature = stripe.webhooks.generateTestHeaderString({ payload: body, secret })
      const call = { path: "/api/webhooks/stripe", method: "POST", body, headers: { "stripe-signature": signature } }
      yield* link.cut
      const answer = yield* within(30, call)
      assert.strictEqual(answer.status, 503, answer.text)
      yield* link.restore
      yield* untilHealthy
      assert.strictEqual(at(yield* expecting(200, call), "outcome"), "applied")
      assert.strictEqual(at(yield* expecting(200, call), "outcome"), "repeated")
    })
  )
})

it.layer(ServiceUnderTest.postgres(), LIVE)("an internal defect", (it) => {
  it.effect("is a 500 that tells the caller only the request id", () =>
    Effect.gen(function* () {
      const { url } = yield* PostgresTest
      const { key } = yield* aProvider({ tools: [{ tool_name: "one" }] })
      yield* Effect.flatMap(SqlClient.SqlClient, (sql) => sql`ALTER TABLE tools RENAME TO not_tools`).pipe(
        connectedTo(url)
      )
      const calls: ReadonlyArray<Call> = [
        { path: `${CATALOG}?q=never%20asked` },
        { path: TOOLS, key, json: { tools: [{ tool_name: "two" }] } },
        { path: TOOLS, key, json: { tools: [{ tool_name: "two" }] }, headers: { "idempotency-key": "broken" } }
      ]
      for (const call of calls) {
        const answer = yield* expecting(500, { ...call, headers: { ...call.headers, "x-request-id": "my-case" } })
        assert.strictEqual(at(answer, "code"), "INTERNAL_ERROR")
        assert.strictEqual(at(answer, "request_id"), "my-case")
        assert.isUndefined(at(answer, "details"))
        for (const inside of ["tools", "relation", "42P01", "sql", "stack", "Error:"]) {
          assert.notInclude(textAt(answer, "detail"), inside)
        }
      }
      yield* Effect.flatMap(SqlClient.SqlClient, (sql) => sql`ALTER TABLE not_tools RENAME TO tools`).pipe(
        connectedTo(url)
      )
      // The failure did not consume the key.
      const again = yield* expecting(201, calls[2]!)
      assert.isUndefined(again.headers["idempotent-replay"])
    })
  )
})
