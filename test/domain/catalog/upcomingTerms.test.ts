/**
 * Announced terms are charged from their exact time on, also by a node that cached the tool before: never sooner,
 * never later.
 */
import { assert, it } from "@effect/vitest"
import { DateTime, Duration, Effect, Layer, Option } from "effect"
import { TestClock } from "effect/testing"
import { AccountStore } from "../../../domain/accounts/Account.ts"
import { Catalog } from "../../../domain/catalog/Catalog.ts"
import { CatalogStore } from "../../../domain/catalog/CatalogStore.ts"
import { basisPointsAt, FEE_BASIS_POINTS_DEFAULT } from "../../../domain/ledger/PlatformFee.ts"
import { termsOfReport } from "../../../domain/metering/DirectMetering.ts"
import { ToolDirectory } from "../../../domain/metering/ToolDirectory.ts"
import { PlatformFees } from "../../../domain/providers/PlatformFees.ts"
import { fromCents, Microcents } from "../../../domain/shared/Microcents.ts"
import { memoryPorts, withServices } from "../../contracts/ports.ts"
import { aDeclaration, aProvider } from "../../contracts/samples.ts"

const BY = { by: "Ada", reason: undefined }
const NOTICE = Duration.seconds(10)
const price = Microcents.make

const services = ToolDirectory.layer.pipe(Layer.provideMerge(withServices(memoryPorts, NOTICE)))

it.layer(services, { timeout: "60 seconds" })("Announced terms", (it) => {
  const listed = Effect.fnUntraced(function* (first: bigint) {
    const catalog = yield* Catalog
    const provider = yield* aProvider()
    const change = (fields: object) => catalog.upsert(provider.id, [{ toolName: "forecast", ...fields }])
    const { stored } = yield* catalog.upsert(provider.id, [aDeclaration({ price: price(first) })])
    const id = stored[0]!.id
    return { catalog, change, id, provider }
  })
  const charged = Effect.fnUntraced(function* (id: Parameters<Catalog["Service"]["find"]>[0]) {
    const directory = yield* ToolDirectory
    const entry = yield* directory.find({ toolId: id, toolName: undefined, providerId: undefined })
    const found = Option.getOrThrow(yield* (yield* Catalog).find(id))
    assert.deepStrictEqual([entry.price, entry.priceVersion], [found.price, found.priceVersion])
    return [Number(entry.price), entry.priceVersion]
  })

  it.effect("are in effect from their millisecond on, in a cached entry and without a promotion", () =>
    Effect.gen(function* () {
      const { change, id } = yield* listed(10n)
      yield* change({ price: price(20n) })
      assert.deepStrictEqual(yield* charged(id), [10, 1])
      yield* TestClock.adjust(Duration.subtract(NOTICE, Duration.millis(1)))
      assert.deepStrictEqual(yield* charged(id), [10, 1])
      yield* TestClock.adjust(Duration.millis(1))
      assert.deepStrictEqual(yield* charged(id), [20, 2])
      const stored = Option.getOrThrow(yield* (yield* CatalogStore).find(id))
      assert.strictEqual(stored.price, 10n)
      assert.isAtLeast(yield* (yield* Catalog).promote, 1)
      assert.strictEqual(Option.getOrThrow(yield* (yield* CatalogStore).find(id)).price, 20n)
      assert.deepStrictEqual(yield* charged(id), [20, 2])
    })
  )

  it.effect("of the platform fee apply from their millisecond on, in a cached entry", () =>
    Effect.gen(function* () {
      const { id, provider } = yield* listed(10n)
      const fees = yield* PlatformFees
      const fee = Effect.gen(function* () {
        const entry = yield* (yield* ToolDirectory).find({ toolId: id, toolName: undefined, providerId: undefined })
        return basisPointsAt(entry.provider.fee, FEE_BASIS_POINTS_DEFAULT, (yield* DateTime.now).epochMilliseconds)
      })
      assert.strictEqual(yield* fee, FEE_BASIS_POINTS_DEFAULT)
      yield* fees.set(provider.id, 400, BY)
      assert.strictEqual(yield* fee, 400)
      yield* fees.set(provider.id, 2_000, BY)
      assert.strictEqual(yield* fee, 400)
      yield* TestClock.adjust(Duration.subtract(NOTICE, Duration.millis(1)))
      assert.strictEqual(yield* fee, 400)
      yield* TestClock.adjust(Duration.millis(1))
      assert.strictEqual(yield* fee, 2_000)
      assert.deepStrictEqual(yield* fees.find(provider.id), {
        basisPoints: 2_000,
        isDefault: false,
        upcoming: undefined
      })
    })
  )

  it.effect("decide what a canceled call costs from their millisecond on", () =>
    Effect.gen(function* () {
      const { change, id } = yield* listed(10n)
      const leaving = Effect.gen(function* () {
        const entry = yield* (yield* ToolDirectory).find({ toolId: id, toolName: undefined, providerId: undefined })
        return [entry.cancellation, entry.priceVersion]
      })
      yield* change({ onCancel: "pass" })
      yield* TestClock.adjust(Duration.subtract(NOTICE, Duration.millis(1)))
      assert.deepStrictEqual(yield* leaving, ["outcome", 1])
      yield* TestClock.adjust(Duration.millis(1))
      assert.deepStrictEqual(yield* leaving, ["price", 2])
      yield* change({ canceledCallCosts: "nothing" })
      assert.deepStrictEqual(yield* leaving, ["free", 3])
      yield* change({ canceledCallCosts: null })
      assert.deepStrictEqual(yield* leaving, ["free", 3])
      yield* TestClock.adjust(NOTICE)
      assert.deepStrictEqual(yield* leaving, ["price", 4])
    })
  )

  it.effect("of a provider whose default price was raised wait for the notice period, too", () =>
    Effect.gen(function* () {
      const { catalog, change, id, provider } = yield* listed(10n)
      yield* change({ price: null })
      yield* TestClock.adjust(NOTICE)
      assert.deepStrictEqual(yield* charged(id), [2_000, 2])
      yield* (yield* AccountStore).updateProvider({ ...provider, defaultPrice: fromCents(90_000) })
      // The default is read when the tool is registered; until then nothing changes.
      assert.deepStrictEqual(yield* charged(id), [2_000, 2])
      yield* change({ description: "the same tool" })
      assert.deepStrictEqual(yield* charged(id), [2_000, 2])
      const { prices } = Option.getOrThrow(yield* catalog.find(id))
      assert.strictEqual(prices.upcoming?.price, 900_000_000n)
    })
  )

  it.effect("that came into effect while the tool was withdrawn do not apply when it is listed again", () =>
    Effect.gen(function* () {
      const { catalog, change, id, provider } = yield* listed(10n)
      yield* change({ price: price(20n) })
      yield* catalog.withdraw(provider.id, id)
      yield* TestClock.adjust(Duration.times(NOTICE, 2))
      yield* change({})
      assert.deepStrictEqual(yield* charged(id), [10, 1])
      const { prices } = Option.getOrThrow(yield* catalog.find(id))
      assert.deepStrictEqual([prices.upcoming?.price, prices.upcoming?.version], [20n, 3])
      yield* TestClock.adjust(NOTICE)
      assert.deepStrictEqual(yield* charged(id), [20, 3])
    })
  )

  it.effect("charge no report more than the terms of its own time or of now", () =>
    Effect.gen(function* () {
      const { catalog, change, id } = yield* listed(10n)
      const before = yield* DateTime.now
      yield* change({ price: price(20n) })
      yield* TestClock.adjust(NOTICE)
      const raised = Option.getOrThrow(yield* catalog.find(id))
      const terms = (at: DateTime.Utc) =>
        Effect.map(
          Effect.flatMap(catalog.find(id), (entry) => termsOfReport(catalog, Option.getOrThrow(entry), at)),
          (entry) => [Number(entry.price), Number(entry.maximum), entry.priceVersion]
        )
      assert.deepStrictEqual([raised.price, raised.priceVersion], [20n, 2])
      // Reported late: as it was announced and charged then.
      assert.deepStrictEqual(yield* terms(before), [10, 10, 1])
      const dear = yield* DateTime.now
      assert.deepStrictEqual(yield* terms(dear), [20, 20, 2])
      yield* TestClock.adjust("1 second")
      yield* change({ price: price(5n) })
      // Backdated to the time of the higher price: as it is charged now.
      assert.deepStrictEqual(yield* terms(dear), [5, 5, 3])
      assert.deepStrictEqual(yield* terms(DateTime.subtract(before, { days: 3 })), [5, 5, 3])
    })
  )
})
