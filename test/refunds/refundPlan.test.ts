/**
 * The sources of a refund's money, for any amounts.
 */
import { assert, it } from "@effect/vitest"
import { Schema } from "effect"
import { planRefund, type RefundSources } from "../../domain/earnings/Refunds.ts"
import { totalOfParts } from "../../domain/ledger/Transfer.ts"

const amount = Schema.BigInt.check(Schema.isBetweenBigInt({ minimum: 0n, maximum: 1_000n }))
const Sources = Schema.Struct({
  net: amount,
  fee: amount,
  frozen: amount,
  parts: Schema.Array(Schema.Struct({ day: Schema.Literals(["2026-11-01", "2026-11-02", "2026-11-03"]), amount })),
  platformFunds: amount,
  advanceLeft: amount
})

it.prop("a refund moves only covered money, and the rest is owed", [Sources], ([sources]) => {
  const plan = planRefund(sources)
  const lots = totalOfParts(plan.fromLots)
  assert.isTrue(plan.fromFrozen <= sources.frozen)
  assert.isTrue(lots <= totalOfParts(sources.parts))
  assert.isTrue(plan.fromPlatform + plan.advanced <= sources.platformFunds)
  assert.isTrue(plan.advanced <= sources.advanceLeft)
  assert.isTrue(plan.fromLots.every((part) => part.amount > 0n))
  for (const value of [plan.fromFrozen, plan.fromPlatform, plan.advanced, plan.owedByProvider, plan.owedByPlatform]) {
    assert.isTrue(value >= 0n)
  }
  assert.strictEqual(plan.refunded, plan.fromFrozen + lots + plan.fromPlatform + plan.advanced)
  assert.strictEqual(plan.refunded + plan.owedByProvider + plan.owedByPlatform, sources.net + sources.fee)
  assert.strictEqual(plan.fromPlatform + plan.owedByPlatform, sources.fee)
  // The platform pays only where the provider has nothing left.
  if (plan.advanced > 0n || plan.owedByProvider > 0n) assert.strictEqual(lots, totalOfParts(sources.parts))
})

it("takes frozen earnings first, then the lots in their order, then platform funds up to the limit", () => {
  const sources: RefundSources = {
    net: 90n,
    fee: 10n,
    frozen: 20n,
    parts: [
      { day: "2026-11-02", amount: 30n },
      { day: "2026-11-01", amount: 5n }
    ],
    platformFunds: 100n,
    advanceLeft: 25n
  }
  assert.deepStrictEqual(planRefund(sources), {
    fromFrozen: 20n,
    fromLots: sources.parts,
    fromPlatform: 10n,
    advanced: 25n,
    owedByProvider: 10n,
    owedByPlatform: 0n,
    refunded: 90n
  })
})
