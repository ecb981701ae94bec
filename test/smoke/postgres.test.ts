/**
 * The whole service on PostgreSQL: every endpoint once, by a caller that it accepts, then one call from the MCP door to the
 * log's proof, and the books of it all. What an endpoint does is proved in memory, and what a store does by its contract:
 * this shows that they fit together.
 */
import { assert, it } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"
import { verifyReceipt } from "../../adapters/site/verify/ReceiptVerifier.browser.ts"
import { OperatorKey } from "../../domain/accounts/Authentication.ts"
import { Ledger } from "../../domain/ledger/Ledger.ts"
import { LogCheck } from "../../domain/log/LogCheck.ts"
import { Sequencer } from "../../domain/log/Sequencer.ts"
import { expecting, textAt } from "../support/market/Market.ts"
import { toolCalled } from "../support/mcp/ModernClient.ts"
import { postgresCore } from "../support/metering/Core.ts"
import { fine, providing } from "../support/metering/Provider.ts"
import { aFundedConsumer, anOffer, books, FEE, PRICE, receiptsOf, walletOf } from "../support/metering/Shop.ts"
import { accountRows } from "../support/security/AccountRows.ts"
import { CALLERS } from "../support/security/Callers.ts"
import { callRows } from "../support/security/CallRows.ts"
import type { Rows } from "../support/security/Matrix.ts"
import { ordered } from "../support/security/Erasable.ts"
import { BALANCE, RECEIPTS, TOOLBOX } from "../support/security/Paths.ts"
import { publicRows } from "../support/security/PublicRows.ts"
import { aWorld, OPERATOR, SharedWorld } from "../support/security/World.ts"
import { LIVE, send } from "../support/market/ServiceUnderTest.ts"

const matrix: Rows = { ...accountRows, ...callRows, ...publicRows }

const service = SharedWorld.layer.pipe(
  Layer.provideMerge(postgresCore),
  Layer.provide(Layer.succeed(OperatorKey, Redacted.make(OPERATOR)))
)

/** For these an earlier request has removed the object, or spent the budget. */
const ALONE = new Set([
  "POST /api/market/proxy",
  "POST /api/v1/market/meter",
  "DELETE /api/v1/market/toolbox/:tool_id",
  "DELETE /api/v1/market/grants/:grant_id"
])

/** Reads first, and what removes something last: the others leave what the next ones need. */
const rankOf = (title: string): number => ["GET", "POST", "PUT", "PATCH", "DELETE"].indexOf(title.split(" ")[0]!)

it.layer(service, LIVE)("On PostgreSQL", (it) => {
  for (const [title, row] of Object.entries(matrix).toSorted(([one], [other]) => rankOf(one) - rankOf(other))) {
    it.effect(title, () =>
      Effect.gen(function* () {
        // Owners are the last ones. Where no caller is accepted, the owner is told why.
        const caller = CALLERS.findLast((one) => row.answers[one] < 400) ?? "consumerOwner"
        const world = yield* ALONE.has(title) ? aWorld : SharedWorld
        const { status, text } = yield* send({ ...row.ask(world, caller), key: world.keys[caller] })
        assert.strictEqual(status, row.answers[caller], text.slice(0, 1_500))
        for (const mark of row.shows[caller] ?? []) assert.include(text, world.marks[mark])
      })
    )
  }

  it.effect("a call through the MCP door is billed, signed and in the log, and its caller can be erased", () =>
    Effect.gen(function* () {
      const consumer = yield* aFundedConsumer()
      const offer = yield* anOffer((yield* providing(fine)).url)
      const before = yield* books
      yield* expecting(200, { path: TOOLBOX, key: consumer.key, json: { tools: [offer.toolId] } })
      const toolbox = yield* expecting(200, { path: TOOLBOX, key: consumer.key })
      yield* toolCalled(consumer.key, textAt(toolbox, "tools", 0, "alias"))
      const { fees, providers, wallets } = yield* books
      assert.deepStrictEqual(
        [wallets - before.wallets, providers - before.providers, fees - before.fees],
        [BigInt(-PRICE), BigInt(PRICE - FEE), BigInt(FEE)]
      )
      assert.strictEqual((yield* walletOf(consumer)).available, 1_000_000 - PRICE)
      const [receipt] = yield* receiptsOf(consumer)
      const verified = yield* expecting(200, { path: "/api/v1/verify", json: receipt })
      assert.strictEqual(textAt(verified, "verification", "reason"), "ok")

      const { sequence } = yield* Sequencer
      while ((yield* sequence) > 0);
      const proof = yield* expecting(200, { path: `${RECEIPTS}/${receipt!.receipt_id}/proof` })
      const jwks = yield* expecting(200, { path: "/.well-known/jwks.json" })
      const verdict = yield* Effect.promise(() => verifyReceipt(receipt!, proof.text, textAt(jwks, "keys", 0, "vkey")))
      assert.strictEqual(verdict.reason, "ok")

      yield* ordered(consumer)
      yield* expecting(401, { path: BALANCE, key: consumer.key })
    })
  )

  it.effect("leaves balanced books, and a log without a finding", () =>
    Effect.gen(function* () {
      const ledger = yield* Ledger
      yield* books
      assert.deepStrictEqual((yield* ledger.audit).discrepancies, [])
      const { findings } = yield* Effect.flatMap(LogCheck, ({ check }) => check).pipe(Effect.provide(LogCheck.layer))
      assert.deepStrictEqual(findings, [])
    })
  )
})
