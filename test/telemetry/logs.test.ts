/**
 * The ids in a log line about a request: its own always, the account's and the call's as soon as they are known.
 * Every test that sends a request checks the first (`ContractCheck`).
 */
import { assert, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { DatabaseLink } from "../support/servers/DatabaseLink.ts"
import { fine, providing } from "../support/metering/Provider.ts"
import { aFundedConsumer, anOffer, buy, callOf } from "../support/metering/Shop.ts"
import { PostgresTest } from "../support/servers/PostgresTest.ts"
import { postgresConfig, wholeService } from "../support/market/ServiceConfig.ts"
import { LIVE, send, ServiceUnderTest } from "../support/market/ServiceUnderTest.ts"

const linked = (timeoutMs: string) =>
  ServiceUnderTest.over(
    Layer.unwrap(
      Effect.map(DatabaseLink, ({ url }) =>
        wholeService(postgresConfig(url, { ALLOW_UPSTREAM: "loopback", REQUEST_TIMEOUT_MS: timeoutMs }))
      )
    )
  ).pipe(Layer.provideMerge(DatabaseLink.layer), Layer.provideMerge(PostgresTest.layerDatabase))

/** The line with this message, and no other. */
const lineThat = (log: string, says: string): string => {
  const found = log.split("\n").filter((line) => line.includes(says))
  assert.strictEqual(found.length, 1, log)
  return found[0]!
}

for (const [how, timeoutMs, outage, says] of [
  // Long enough for the preceding requests, on a busy machine.
  ["late", "3000", "freeze", "A request was not answered in time"],
  ["lost with the database", "30000", "cut", "A request failed because the database is unavailable"]
] as const) {
  it.layer(linked(timeoutMs), LIVE)(`a line about a request that is ${how}`, (it) => {
    it.effect(
      "names the request, the account and the call",
      () =>
        Effect.gen(function* () {
          const link = yield* DatabaseLink
          const server = yield* providing(fine)
          const offer = yield* anOffer(server.url)
          const buyer = yield* aFundedConsumer()
          // Catalog and keys are cached from now on.
          assert.strictEqual((yield* buy(buyer, offer)).status, 200)
          yield* link[outage]
          const answer = yield* send({ ...callOf(buyer, offer), headers: { "x-request-id": "mine" } })
          assert.strictEqual(answer.status, 503, answer.text)
          const line = lineThat(answer.log, says)
          for (const known of [
            "request_id=mine",
            `owner_id=${buyer.id}`,
            "invocation_id=rcpt_",
            "method=POST",
            "route=/api/market/proxy"
          ]) {
            assert.include(line, known)
          }
          if (outage === "cut") assert.include(answer.log, "unreachable (")
          assert.notInclude(answer.log, buyer.key)
          // Else stopping the service would wait for the database.
          yield* link.restore
        }),
      180_000
    )
  })
}
