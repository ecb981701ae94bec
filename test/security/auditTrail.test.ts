/**
 * What an operator could do to hide an action from the audit trail.
 */
import { assert, it } from "@effect/vitest"
import { Effect, Fiber, Layer, Redacted } from "effect"
import { operatorRun } from "../../adapters/http/contract/Endpoint.ts"
import type { RequestContext } from "../../adapters/http/pipeline/Route.ts"
import { makeRecordActions } from "../../adapters/http/pipeline/Stages.ts"
import { OperatorKey, operatorPrincipal } from "../../domain/accounts/Authentication.ts"
import { AuditTrail } from "../../domain/operator/AuditTrail.ts"
import { OPERATOR_KEY } from "../support/checks/EndpointTable.ts"
import { expecting, listAt, valueAt } from "../support/market/Market.ts"
import { LIVE } from "../support/market/ServiceUnderTest.ts"
import { memoryCore } from "../support/metering/Core.ts"

const TRAIL = "/api/v1/operator/audit-trail"

const service = memoryCore.pipe(Layer.provide(Layer.succeed(OperatorKey, Redacted.make(OPERATOR_KEY))))

it.layer(service, LIVE)("The audit trail", (it) => {
  it.effect("no white space or repeated member hides from the audit trail what was done", () =>
    Effect.gen(function* () {
      const path = "/api/v1/operator/funds"
      const reference = "r".repeat(90)
      const move = (n: number) => `"action":"deposit","amount_cents":${n},"reference":"${n}${reference}"`
      const hidden = [`${" ".repeat(5_000)}{${move(1)}}`, `{${move(9)},${" ".repeat(5_000)}${move(2)}}`]
      for (const body of hidden) yield* expecting(200, { path, body, key: OPERATOR_KEY })
      const entries = yield* Effect.map(
        expecting(200, { path: `${TRAIL}?action=funds.move&limit=2`, key: OPERATOR_KEY }),
        (answer) => listAt(answer, "entries")
      )
      assert.deepStrictEqual(
        entries.map((entry) => valueAt(entry, "details")),
        [`{${move(2)}}`, `{${move(1)}}`]
      )
    })
  )

  it.effect("a run that ends before its response is in the audit trail all the same", () =>
    Effect.gen(function* () {
      const recorded = yield* makeRecordActions
      const { list } = yield* AuditTrail
      const context = {
        caller: operatorPrincipal(),
        clientAddress: "192.0.2.1",
        pathParams: {},
        payload: {},
        route: { rule: operatorRun("invoices.run") },
        text: `{"month":"2026-10"}`
      }
      const run = yield* Effect.forkChild(recorded(context as unknown as RequestContext, () => Effect.never))
      yield* Effect.yieldNow
      yield* Fiber.interrupt(run)
      const { items } = yield* list(
        { action: "invoices.run", subject: undefined },
        { limit: 1, offset: 0, after: undefined }
      )
      assert.deepStrictEqual(
        items.map(({ actor, details }) => [actor, details]),
        [["API key", context.text]]
      )
    })
  )
})
