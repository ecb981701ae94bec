/**
 * When a change of terms takes effect: what is better immediately, what is worse after the notice period.
 */
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Duration, Schema } from "effect"
import {
  better,
  noWorse,
  pricesAt,
  priceText,
  type PriceVersion,
  sameTerms,
  type Terms,
  termsOf
} from "../../../domain/catalog/Terms.ts"
import type { JsonSchemaObject } from "../../../domain/catalog/Tool.ts"
import { planPrices } from "../../../domain/catalog/ToolUpserts.ts"
import { Microcents } from "../../../domain/shared/Microcents.ts"
import { instant } from "../../contracts/samples.ts"

const DAY = Duration.hours(24)
const T0 = instant("2026-11-10T12:00:00.000Z")
const T1 = DateTime.addDuration(T0, DAY)
const hours = (n: number) => DateTime.add(T0, { hours: n })

const terms = (price: bigint, more: Partial<Terms> = {}): Terms => ({
  price: Microcents.make(price),
  maximum: Microcents.make(price),
  freeTierCalls: 0,
  billingPolicy: "success",
  cancellation: "outcome",
  ...more
})
const upTo = (maximum: bigint): Partial<Terms> => ({ maximum: Microcents.make(maximum) })
const listed = (first: Terms) => planPrices(undefined, first, T0, DAY)
const facts = (version: PriceVersion | undefined) =>
  version === undefined
    ? undefined
    : [version.version, Number(version.price), DateTime.formatIso(version.effectiveFrom)]

describe("A change of terms", () => {
  it("applies immediately to a tool that was never listed", () => {
    const { inEffect, lastVersion, upcoming } = listed(terms(900_000_000n))
    assert.deepStrictEqual([inEffect.version, lastVersion, upcoming], [1, 1, undefined])
    assert.deepStrictEqual(inEffect.effectiveFrom, T0)
  })

  it("waits for the notice period where it charges more: price, maximum, policy, or canceled calls", () => {
    const before = terms(10n, { ...upTo(100n), billingPolicy: "valid_output", cancellation: "free" })
    for (const worse of [
      { ...before, price: Microcents.make(11n) },
      { ...before, ...upTo(101n) },
      { ...before, billingPolicy: "success" },
      { ...before, billingPolicy: "attempt" },
      { ...before, cancellation: "outcome" },
      { ...before, cancellation: "price" }
    ] as const) {
      const planned = planPrices(listed(before), worse, T0, DAY)
      assert.isTrue(sameTerms(planned.inEffect, before))
      assert.strictEqual(planned.inEffect.version, 1)
      assert.isTrue(sameTerms(planned.upcoming!, worse))
      assert.deepStrictEqual(planned.upcoming!.effectiveFrom, T1)
      assert.strictEqual(pricesAt(planned, T1.epochMilliseconds - 1), planned)
      assert.strictEqual(pricesAt(planned, T1.epochMilliseconds).inEffect, planned.upcoming)
    }
  })

  it("applies immediately where no consumer pays more for it", () => {
    const before = terms(10n, { ...upTo(100n), billingPolicy: "attempt", freeTierCalls: 5, cancellation: "price" })
    for (const nicer of [
      { ...before, price: Microcents.make(9n) },
      { ...before, ...upTo(99n) },
      { ...before, freeTierCalls: 6 },
      { ...before, billingPolicy: "valid_output" },
      { ...before, cancellation: "free" },
      { ...before, ...upTo(10n), cancellation: "outcome" }
    ] as const) {
      const planned = planPrices(listed(before), nicer, hours(1), DAY)
      assert.isTrue(sameTerms(planned.inEffect, nicer))
      assert.deepStrictEqual([planned.inEffect.version, planned.upcoming], [2, undefined])
      assert.deepStrictEqual(planned.inEffect.effectiveFrom, hours(1))
    }
  })

  it("applies its better half immediately and the worse one after the notice period", () => {
    const planned = planPrices(listed(terms(10n, upTo(100n))), terms(20n, upTo(50n)), T0, DAY)
    assert.deepStrictEqual(facts(planned.inEffect)?.slice(0, 2), [2, 10])
    assert.strictEqual(planned.inEffect.maximum, 50n)
    assert.deepStrictEqual(facts(planned.upcoming), [3, 20, DateTime.formatIso(T1)])
    assert.strictEqual(planned.lastVersion, 3)
  })

  it("waits for the notice period where a canceled call costs its price instead of what its outcome costs", () => {
    for (const cancellation of ["free", "outcome"] as const) {
      const planned = planPrices(listed(terms(10n, { cancellation })), terms(5n, { cancellation: "price" }), T0, DAY)
      assert.deepStrictEqual([planned.inEffect.price, planned.inEffect.cancellation], [5n, cancellation])
      assert.strictEqual(planned.upcoming?.cancellation, "price")
      assert.deepStrictEqual(planned.upcoming?.effectiveFrom, T1)
    }
  })

  it("waits for the notice period where an outcome may cost more than the price that a canceled call costs now", () => {
    const before = terms(10n, { ...upTo(900n), cancellation: "price" })
    const planned = planPrices(listed(before), { ...before, ...upTo(11n), cancellation: "outcome" }, T0, DAY)
    assert.deepStrictEqual([planned.inEffect.maximum, planned.inEffect.cancellation], [11n, "price"])
    assert.deepStrictEqual([planned.upcoming?.cancellation, planned.upcoming?.effectiveFrom], ["outcome", T1])
  })

  const judged = (outputSchema: JsonSchemaObject) => terms(10n, { billingPolicy: "valid_output", outputSchema })

  it("waits for the notice period where another output schema decides what is billed", () => {
    const before = judged({ type: "object", properties: { title: { type: "string" } }, required: ["title"] })
    for (const other of [
      judged({}),
      judged({ ...before.outputSchema, required: [] }),
      judged({ ...before.outputSchema, required: ["title", "n"] }),
      // Members of values, and texts where a schema may be referred to.
      judged({ ...before.outputSchema, properties: { title: { const: { title: "other" } } } }),
      judged({ ...before.outputSchema, properties: {} }),
      judged({ ...before.outputSchema, examples: [{}] }),
      judged({ ...before.outputSchema, title: { type: "string" } })
    ]) {
      const planned = planPrices(listed(before), { ...other, price: Microcents.make(9n) }, T0, DAY)
      assert.deepStrictEqual([planned.inEffect.price, planned.inEffect.outputSchema], [9n, before.outputSchema])
      assert.deepStrictEqual(
        [planned.upcoming?.outputSchema, planned.upcoming?.effectiveFrom],
        [other.outputSchema, T1]
      )
    }
  })

  it("is none where an output schema differs in texts and in the order of its members only", () => {
    const before = judged({ type: "object", properties: { title: { type: "string" } }, anyOf: [{ title: "One" }] })
    const after = judged({
      anyOf: [{ title: "Two", $comment: "a" }],
      properties: { title: { description: "A name", type: "string" } },
      type: "object",
      title: "A title"
    })
    const planned = planPrices(listed(before), after, T0, DAY)
    assert.deepStrictEqual([planned.inEffect.version, planned.upcoming], [1, undefined])
    assert.strictEqual(planned.inEffect.outputSchema, after.outputSchema)
    const next = judged({ type: "array", items: { title: "One" } })
    const announced = planPrices(planned, next, T0, DAY)
    const again = planPrices(announced, judged({ type: "array", items: { title: "Two" } }), hours(1), DAY)
    assert.deepStrictEqual([again.upcoming?.version, again.upcoming?.effectiveFrom], [2, T1])
    assert.deepStrictEqual(again.upcoming?.outputSchema, { type: "array", items: { title: "Two" } })
  })

  it("cuts a free tier at the start of the first month after the notice period", () => {
    const before = terms(10n, { freeTierCalls: 100 })
    const cut = (at: DateTime.Utc) => planPrices(listed(before), terms(10n, { freeTierCalls: 99 }), at, DAY)
    for (const [at, from] of [
      ["2026-11-10T12:00:00.000Z", "2026-12-01T00:00:00.000Z"],
      ["2026-11-30T00:00:00.000Z", "2026-12-01T00:00:00.000Z"],
      ["2026-11-30T00:00:00.001Z", "2027-01-01T00:00:00.000Z"],
      ["2026-12-31T23:59:59.999Z", "2027-02-01T00:00:00.000Z"]
    ] as const) {
      assert.deepStrictEqual(cut(instant(at)).upcoming?.effectiveFrom, instant(from), at)
      assert.strictEqual(cut(instant(at)).inEffect.freeTierCalls, 100)
    }
  })

  it("replaces an announced one, whose version number is not used again", () => {
    const first = planPrices(listed(terms(10n)), terms(20n), T0, DAY)
    const second = planPrices(first, terms(30n), hours(23), DAY)
    assert.deepStrictEqual(facts(second.inEffect)?.slice(0, 2), [1, 10])
    assert.deepStrictEqual(facts(second.upcoming), [3, 30, DateTime.formatIso(hours(47))])
    const taken = planPrices(second, terms(10n), hours(24), DAY)
    assert.deepStrictEqual([facts(taken.inEffect)?.[0], taken.upcoming, taken.lastVersion], [1, undefined, 3])
    assert.strictEqual(planPrices(taken, terms(30n), hours(25), DAY).upcoming?.version, 4)
  })

  it("keeps its time when it is repeated, and when the new one is less than the announced one", () => {
    const first = planPrices(listed(terms(10n)), terms(30n), T0, DAY)
    assert.deepStrictEqual(planPrices(first, terms(30n), hours(23), DAY), first)
    const less = planPrices(first, terms(20n), hours(23), DAY)
    assert.deepStrictEqual(facts(less.upcoming), [3, 20, DateTime.formatIso(T1)])
  })

  it("is in effect from its time on, promoted or not", () => {
    const first = planPrices(listed(terms(10n)), terms(20n), T0, DAY)
    const next = planPrices(first, terms(40n), hours(25), DAY)
    assert.deepStrictEqual(facts(next.inEffect)?.slice(0, 2), [2, 20])
    assert.deepStrictEqual(facts(next.upcoming), [3, 40, DateTime.formatIso(hours(49))])
  })

  it("applies immediately without a notice period", () => {
    const planned = planPrices(
      listed(terms(0n, { freeTierCalls: 100 })),
      terms(900_000_000n, { billingPolicy: "attempt" }),
      T0,
      Duration.zero
    )
    assert.deepStrictEqual([planned.inEffect.version, planned.upcoming], [2, undefined])
  })

  const Change = Schema.Struct({
    price: Schema.Literals([0, 10, 20, 30]),
    above: Schema.Literals([0, 0, 5, 500]),
    freeTierCalls: Schema.Literals([0, 5, 10]),
    billingPolicy: Schema.Literals(["success", "valid_output", "attempt"]),
    of: Schema.Literals(["number", "string"]),
    cancellation: Schema.Literals(["free", "outcome", "price"]),
    afterHours: Schema.Literals([0, 1, 12, 23, 24, 25, 400])
  })

  const wantedOf = ({
    above,
    billingPolicy,
    freeTierCalls,
    cancellation,
    of,
    price
  }: Omit<typeof Change.Type, "afterHours">) =>
    terms(BigInt(price), {
      ...upTo(BigInt(price + above)),
      freeTierCalls,
      billingPolicy,
      ...(billingPolicy === "valid_output" ? { outputSchema: { type: of } } : {}),
      cancellation
    })

  it.prop(
    "never charges more than what was in effect or announced a notice period before",
    { changes: Schema.Array(Change) },
    ({ changes }) => {
      let prices = listed(terms(10n, { freeTierCalls: 10 }))
      let now = T0
      const published: Array<{ readonly at: DateTime.Utc; readonly terms: Terms }> = [
        { at: T0, terms: prices.inEffect }
      ]
      for (const { afterHours, ...change } of changes) {
        const later = DateTime.add(now, { hours: afterHours })
        const before = pricesAt(prices, later.epochMilliseconds)
        const old = published.filter(({ at }) =>
          DateTime.isLessThanOrEqualTo(at, DateTime.subtractDuration(later, DAY))
        )
        // Whatever is in effect now was published a day ago, or is no worse than something that was.
        if (DateTime.isGreaterThanOrEqualTo(later, T1)) {
          assert.isTrue(old.some((one) => noWorse(before.inEffect, one.terms)))
        }
        now = later
        const wanted = wantedOf(change)
        prices = planPrices(prices, wanted, now, DAY)
        assert.isTrue(noWorse(prices.inEffect, before.inEffect), "what applies at once is never worse")
        assert.isTrue(sameTerms(prices.upcoming ?? prices.inEffect, wanted), "what was asked for is what comes")
        assert.isAtLeast(prices.lastVersion, before.lastVersion)
        published.push({ at: now, terms: prices.inEffect })
        if (prices.upcoming !== undefined) published.push({ at: now, terms: prices.upcoming })
      }
    },
    { arbitrary: { runs: 300 } }
  )

  it.prop("of two terms the better one is no worse than either", [Change, Change], ([one, other]) => {
    const [a, b] = [wantedOf(one), wantedOf(other)]
    const best = better(a, b)
    assert.isTrue(noWorse(best, a))
    // A usage-priced outcome and the list price: either may be more, and the first one's stays.
    const isEither = best.cancellation !== b.cancellation && best.cancellation !== "free"
    // Of two output schemas, the first one's stays, too.
    const ofB = best.billingPolicy === "valid_output" && b.billingPolicy === "valid_output" ? termsOf(b) : termsOf(best)
    const { outputSchema, ...rest } = best
    if (a.billingPolicy === "valid_output") assert.strictEqual(outputSchema?.["type"], a.outputSchema?.["type"])
    const compared = { ...rest, ...(ofB.outputSchema === undefined ? {} : { outputSchema: ofB.outputSchema }) }
    assert.isTrue(noWorse(isEither ? { ...compared, cancellation: b.cancellation } : compared, b))
    assert.isTrue(best.maximum >= best.price)
    if (isEither) assert.strictEqual(best.cancellation, a.cancellation)
    if (isEither && best.cancellation === "price") assert.isTrue(b.cancellation === "outcome" && best.maximum > a.price)
  })

  it.prop(
    "is worse, equal or better in an order: what is no worse than no worse terms is no worse",
    [Change, Change, Change],
    ([a, b, c]) => {
      const [x, y, z] = [wantedOf(a), wantedOf(b), wantedOf(c)]
      if (noWorse(x, y) && noWorse(y, z)) assert.isTrue(noWorse(x, z))
    },
    { arbitrary: { runs: 2_000 } }
  )

  /** What a canceled call costs a consumer under these terms, for the lowest and the highest cost of its outcome. */
  const canceledCosts = ({ cancellation, maximum, price }: Terms): readonly [failed: bigint, dearest: bigint] =>
    ({ free: [0n, 0n], outcome: [0n, maximum], price: [price, price] } as const)[cancellation]

  it.prop(
    "never makes a canceled call more expensive immediately, whatever its outcome would be",
    [Change, Change],
    ([a, b]) => {
      const before = listed(wantedOf(a))
      const { inEffect } = planPrices(before, wantedOf(b), T0, DAY)
      const [failed, dearest] = canceledCosts(inEffect)
      const [failedBefore, dearestBefore] = canceledCosts(before.inEffect)
      assert.isTrue(failed <= failedBefore && dearest <= dearestBefore)
    }
  )
})

describe("A price as text", () => {
  it("is Free only where no call can cost anything", () => {
    assert.strictEqual(priceText(terms(0n)), "Free")
    assert.strictEqual(priceText(terms(0n, upTo(900_000_000n))), "up to $900.00")
    assert.strictEqual(priceText(terms(12_345n, upTo(40_000n))), "up to $0.04")
    assert.strictEqual(priceText(terms(12_345n)), "$0.012345")
  })
})
