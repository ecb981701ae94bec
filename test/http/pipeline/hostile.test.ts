/**
 * Whatever is sent, the response is a success or a well-formed client error, never a 500. The bodies come from the
 * contract's own schemas. A failure names its seed: pass it to `arbitrary: { seed }`, or its replay text to
 * `arbitrary: { replay }`.
 */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import {
  aKeyOfEachRole,
  everyBody,
  everyEndpoint,
  fieldNames,
  keyFor,
  OPERATOR_KEY,
  pathOf,
  type RoleKeys,
  titleOf
} from "../../support/checks/EndpointTable.ts"
import { hostileBodies, hostileQueries } from "../../support/checks/HostileBodies.ts"
import { at } from "../../support/market/Market.ts"
import { everyService, LIVE, send } from "../../support/market/ServiceUnderTest.ts"
import type { Answer } from "../../support/checks/Answer.ts"

/** For more: HOSTILE_RUNS=2000. */
const RUNS = Number(process.env["HOSTILE_RUNS"] ?? 50)
const QUERY_RUNS = Math.ceil(RUNS / 2)
const TIMEOUT_MS = 120_000 + RUNS * 100

/** A call that was forwarded to an unreachable provider has a receipt that says so; an import from it has its own code. */
const blamesNobodyHere = (answer: Answer) =>
  assert.isTrue(
    (answer.status >= 200 && answer.status < 500) ||
      at(answer, "receipt_id") !== undefined ||
      at(answer, "code") === "NOT_CONFIGURED" ||
      at(answer, "code") === "PROVIDER_ERROR",
    `${answer.status} ${answer.text.slice(0, 500)} ${answer.log.slice(0, 3_000)}`
  )

for (const [store, layer] of everyService({ OPERATOR_KEY })) {
  it.layer(layer, LIVE)(`hostile bodies over ${store}`, (it) => {
    let keys: RoleKeys | undefined
    const theKeys = Effect.suspend(() =>
      keys === undefined ? Effect.tap(aKeyOfEachRole, (made) => Effect.sync(() => (keys = made))) : Effect.succeed(keys)
    )

    for (const endpoint of everyBody()) {
      it.effect.prop(
        titleOf(endpoint),
        { body: hostileBodies(endpoint) },
        ({ body }) =>
          Effect.gen(function* () {
            const key = keyFor(endpoint, yield* theKeys)
            blamesNobodyHere(yield* send({ method: endpoint.method, path: pathOf(endpoint), key, body: body.text }))
          }),
        { timeout: TIMEOUT_MS, arbitrary: { runs: RUNS, size: 8, maxDiscards: RUNS * 50 } }
      )
    }

    for (const endpoint of everyEndpoint()) {
      const names = fieldNames(endpoint.endpoint.query)
      if (names.length === 0) continue
      it.effect.prop(
        `the query of ${titleOf(endpoint)}`,
        { query: hostileQueries(names) },
        ({ query }) =>
          Effect.gen(function* () {
            const path = `${pathOf(endpoint)}?${query}`
            blamesNobodyHere(yield* send({ method: endpoint.method, path, key: keyFor(endpoint, yield* theKeys) }))
          }),
        { timeout: TIMEOUT_MS, arbitrary: { runs: QUERY_RUNS } }
      )
    }

    it.effect("leave the service as it was", () =>
      Effect.gen(function* () {
        assert.isUndefined(({} as Record<string, unknown>)["polluted"])
        assert.strictEqual((yield* send({ path: "/api/market/health" })).status, 200)
        assert.strictEqual((yield* send({ path: "/api/market/catalog?limit=100" })).status, 200)
      })
    )
  })
}
