/**
 * Limits of grants: how many there may be, and what is released when a period ends in between.
 */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { Grants, Reservations } from "../../../domain/metering/Grants.ts"
import { ConsumerId, ProviderId, ToolId } from "../../../domain/shared/Ids.ts"
import { Microcents, zero } from "../../../domain/shared/Microcents.ts"
import { aReceiptId } from "../../contracts/ledgerSamples.ts"
import { aConsumer, expecting, listAt, textAt } from "../../support/market/Market.ts"
import { LIVE, send } from "../../support/market/ServiceUnderTest.ts"
import { everyCore, memoryCore } from "../../support/metering/Core.ts"
import { anOffer, GRANTS } from "../../support/metering/Shop.ts"
import { when } from "../../support/metering/TestTime.ts"

const GRANTS_MAX = 100

it.layer(memoryCore, LIVE)("Grants", (it) => {
  it.effect("release nothing into a new period that was reserved in the previous one", () =>
    Effect.gen(function* () {
      const { grantId, reserve, reservations, spent } = yield* aDailyThousand
      const evening = yield* reserve(600n).pipe(when("2026-12-01T23:59:59.999Z"))
      assert.strictEqual(evening.grantId, grantId)
      const morning = yield* reserve(700n).pipe(when("2026-12-02T00:00:00.000Z"))
      yield* reservations.settle(evening, zero).pipe(when("2026-12-02T00:00:00.001Z"))
      assert.strictEqual(yield* spent, 700n)
      yield* reservations.settle(morning, zero).pipe(when("2026-12-02T00:00:00.002Z"))
      assert.strictEqual(yield* spent, 0n)
      yield* reservations.settle(morning, zero).pipe(when("2026-12-02T00:00:00.003Z"))
      assert.strictEqual(yield* spent, 0n, "given back once")
    })
  )

  it.effect("count in the new period where a node's clock is still in the previous one", () =>
    Effect.gen(function* () {
      const { reserve, reservations, spent } = yield* aDailyThousand
      yield* reserve(600n).pipe(when("2026-12-02T00:00:00.100Z"))
      const behind = yield* reserve(300n).pipe(when("2026-12-01T23:59:59.999Z"))
      const refused = yield* Effect.flip(reserve(101n)).pipe(when("2026-12-02T00:00:00.200Z"))
      assert.strictEqual(refused._tag, "NoGrant")
      yield* reservations.settle(behind, zero).pipe(when("2026-12-02T00:00:00.300Z"))
      assert.strictEqual(yield* spent, 600n)
    })
  )
})

for (const [name, service] of everyCore) {
  it.layer(service, LIVE)(`Grants over ${name}`, (it) => {
    it.effect("are at most a hundred live ones of a consumer, also when they are created concurrently", () =>
      Effect.gen(function* () {
        const { provider } = yield* anOffer("http://127.0.0.1:9/mcp")
        const { key } = yield* aConsumer()
        const json = { provider_id: provider.id, cap_microcents: 1 }
        const give = send({ path: GRANTS, key, json })
        const answers = yield* Effect.all(
          Array.from({ length: GRANTS_MAX + 10 }, () => give),
          { concurrency: 16 }
        )
        assert.strictEqual(answers.filter((answer) => answer.status === 201).length, GRANTS_MAX)
        assert.strictEqual(answers.filter((answer) => answer.status === 422).length, 10)
        const [one] = listAt(yield* expecting(200, { path: GRANTS, key }), "grants")
        const { grant_id } = one as { readonly grant_id: string }
        assert.strictEqual((yield* send({ path: `${GRANTS}/${grant_id}`, method: "DELETE", key })).status, 200)
        assert.strictEqual((yield* give).status, 201)
        assert.strictEqual((yield* give).status, 422)
      })
    )
  })
}

const aDailyThousand = Effect.gen(function* () {
  const grants = yield* Grants
  const reservations = yield* Reservations
  const offer = yield* anOffer("http://127.0.0.1:9/mcp")
  const consumer = yield* aConsumer()
  const [consumerId, providerId] = [ConsumerId.make(consumer.id), ProviderId.make(offer.provider.id)]
  const json = { provider_id: providerId, cap_microcents: 1_000, period: "day" }
  const given = yield* expecting(201, { path: GRANTS, key: consumer.key, json }).pipe(when("2026-12-01T12:00:00.000Z"))
  const reserve = Effect.fnUntraced(function* (amount: bigint) {
    const invocationId = yield* aReceiptId
    const toolId = ToolId.make(offer.toolId)
    return yield* reservations.reserve({
      consumerId,
      providerId,
      toolId,
      invocationId,
      amount: Microcents.make(amount)
    })
  })
  const spent = Effect.map(grants.list(consumerId), ([grant]) => grant!.spent)
  return { grantId: textAt(given, "grant", "grant_id"), reservations, reserve, spent }
})
