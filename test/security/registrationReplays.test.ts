/**
 * Anonymous callers of one address share its Idempotency-Keys: a registration is never replayed, because its response
 * shows the API key of another caller.
 */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { randomUUID } from "node:crypto"
import { everyEndpoint, fieldNames, titleOf } from "../support/checks/EndpointTable.ts"
import { at, CONSUMERS, consumerBody, expecting, PROVIDERS, providerBody, textAt } from "../support/market/Market.ts"
import { type Call, everyService, ServiceUnderTest, LIVE, send } from "../support/market/ServiceUnderTest.ts"

const keyed = (call: Call, key: string = randomUUID()): Call => ({ ...call, headers: { "idempotency-key": key } })

const registrations = (): ReadonlyArray<Call> => [
  { path: CONSUMERS, json: consumerBody() },
  { path: PROVIDERS, json: providerBody({ tools: [{ tool_name: "t" }] }) }
]

const providersNow = Effect.map(expecting(200, { path: "/api/market/health" }), (answer) =>
  at(answer, "provider_count")
)

it("every public endpoint that shows a key declares it", () => {
  const shows = everyEndpoint().filter(
    ({ endpoint, rule }) =>
      rule.roles.length === 0 && [...endpoint.success].some((schema) => fieldNames(schema).includes("api_key"))
  )
  assert.deepStrictEqual(shows.map(titleOf).toSorted(), [`POST ${CONSUMERS}`, `POST ${PROVIDERS}`])
  for (const endpoint of shows) assert.isTrue(endpoint.rule.showsKey, titleOf(endpoint))
})

it.layer(ServiceUnderTest.memory(), LIVE)("an Idempotency-Key of an anonymous registration", (it) => {
  it.effect("is used once: a second request creates nothing and sees no API key", () =>
    Effect.gen(function* () {
      for (const register of registrations()) {
        const call = keyed(register)
        const secret = textAt(yield* expecting(201, call), "api_key")
        const before = yield* providersNow
        for (const again of [call, { ...call, json: { ...(call.json as object), name: "Another" } }]) {
          const answer = yield* expecting(409, again)
          assert.strictEqual(at(answer, "code"), "IDEMPOTENCY_CONFLICT")
          assert.notInclude(answer.text, secret)
          assert.notInclude(answer.text, "atb_")
          assert.isUndefined(answer.headers["idempotent-replay"])
        }
        assert.deepStrictEqual(yield* providersNow, before)
      }
    })
  )

  it.effect("is not consumed where the registration failed", () =>
    Effect.gen(function* () {
      const name = randomUUID()
      yield* expecting(422, keyed({ path: CONSUMERS, json: { ...consumerBody(), email: "nobody" } }, name))
      yield* expecting(201, keyed({ path: CONSUMERS, json: consumerBody() }, name))
    })
  )
})

for (const [store, layer] of everyService()) {
  it.layer(layer, LIVE)(`an Idempotency-Key of an anonymous registration over ${store}`, (it) => {
    it.effect("lets one of 16 concurrent registrations show a key", () =>
      Effect.gen(function* () {
        const call = keyed({ path: CONSUMERS, json: consumerBody() })
        const answers = yield* Effect.all(
          Array.from({ length: 16 }, () => send(call)),
          { concurrency: "unbounded" }
        )
        assert.deepStrictEqual(
          answers.map(({ status }) => status).toSorted((a, b) => a - b),
          [201, ...Array.from({ length: 15 }, () => 409)]
        )
        assert.lengthOf(
          answers.filter(({ text }) => text.includes("atb_c_")),
          1
        )
      })
    )
  })
}
