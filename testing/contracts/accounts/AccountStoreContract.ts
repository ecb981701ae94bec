/**
 * What an AccountStore must do.
 */
import { Effect, Exit, Option } from "effect"
import assert from "node:assert/strict"
import { AccountStore, erasedConsumer, erasedProvider, SERVER_FEATURES } from "../../../domain/accounts/Account.ts"
import { CatalogStore } from "../../../domain/catalog/CatalogStore.ts"
import {
  FEE_BASIS_POINTS_MAX,
  FEE_CHANGES_SHOWN_MAX,
  NO_OWN_FEE,
  type ProviderFee
} from "../../../domain/ledger/PlatformFee.ts"
import { Entropy } from "../../../domain/shared/Cryptography.ts"
import { ConsumerId, ProviderId } from "../../../domain/shared/Ids.ts"
import { Microcents, MICROCENTS_MAX } from "../../../domain/shared/Microcents.ts"
import type { UnitOfWork } from "../../../domain/shared/StoreUnavailable.ts"
import { aConsumer, aProvider, instant } from "../shared/AccountSamples.ts"
import { type Contract, rule } from "../shared/Contract.ts"
import { putTool } from "../shared/ToolSamples.ts"

export const accountStoreContract: Contract<AccountStore | CatalogStore | UnitOfWork> = [
  rule(
    "returns every field of a stored provider",
    Effect.gen(function* () {
      const accounts = yield* AccountStore
      const plain = yield* aProvider()
      const extreme = yield* aProvider({
        name: "Ünïcode 天気 🌦 <b>'\"\\",
        email: "someone+tag@example.com",
        endpointUrl: `https://example.com/${"x".repeat(2_000)}`,
        description: "多".repeat(5_000),
        pricingModel: "free",
        defaultPrice: Microcents.make(MICROCENTS_MAX),
        createdAt: instant("2026-12-31T23:59:59.999Z")
      })
      const empty = yield* aProvider({ name: "", email: "", description: "", pricingModel: "per_token" })
      for (const provider of [plain, extreme, empty]) {
        assert.deepEqual(yield* accounts.findProvider(provider.id), Option.some(provider))
      }
    })
  ),

  rule(
    "changes one account and no other",
    Effect.gen(function* () {
      const accounts = yield* AccountStore
      const [consumer, otherConsumer] = [yield* aConsumer(), yield* aConsumer()]
      const [provider, otherProvider] = [yield* aProvider(), yield* aProvider()]
      yield* accounts.updateConsumer(erasedConsumer(consumer))
      yield* accounts.updateProvider(erasedProvider(provider))
      assert.deepEqual(yield* accounts.findConsumer(consumer.id), Option.some(erasedConsumer(consumer)))
      assert.deepEqual(yield* accounts.findProvider(provider.id), Option.some(erasedProvider(provider)))
      assert.deepEqual(yield* accounts.findConsumer(otherConsumer.id), Option.some(otherConsumer))
      assert.deepEqual(yield* accounts.findProvider(otherProvider.id), Option.some(otherProvider))
    })
  ),

  rule(
    "changes only the given fields of a provider",
    Effect.gen(function* () {
      const accounts = yield* AccountStore
      const [provider, other] = [yield* aProvider(), yield* aProvider()]
      const changes = [
        { name: "Other", description: "" },
        { email: "other@example.org", name: undefined },
        { endpointUrl: "https://other.example.org/mcp" }
      ] as const
      for (const change of changes) yield* accounts.changeProvider(provider.id, change)
      yield* accounts.changeProvider(provider.id, {})
      assert.deepEqual(
        yield* accounts.findProvider(provider.id),
        Option.some({ ...provider, ...changes[0], email: changes[1].email, endpointUrl: changes[2].endpointUrl })
      )
      assert.deepEqual(yield* accounts.findProvider(other.id), Option.some(other))
    })
  ),

  rule(
    "keeps the features that a provider has turned off, whatever else of the account changes",
    Effect.gen(function* () {
      const accounts = yield* AccountStore
      const [provider, other] = [yield* aProvider(), yield* aProvider()]
      for (const features of [["prompts"], SERVER_FEATURES, ["resources", "logging"]] as const) {
        yield* accounts.setFeaturesOff(provider.id, features)
        yield* accounts.updateProvider({ ...provider, name: "Other" })
        const found = Option.getOrThrow(yield* accounts.findProvider(provider.id))
        assert.deepEqual([found.name, found.featuresOff], ["Other", features])
      }
      yield* accounts.setFeaturesOff(provider.id, [])
      assert.equal(Option.getOrThrow(yield* accounts.findProvider(provider.id)).featuresOff, undefined)
      assert.deepEqual(yield* accounts.findProvider(other.id), Option.some(other))
    })
  ),

  rule(
    "keeps a provider's freeze, whatever else of the account changes",
    Effect.gen(function* () {
      const accounts = yield* AccountStore
      const [provider, other] = [yield* aProvider(), yield* aProvider()]
      const frozen = { reason: "Fraud is suspected.", at: instant("2026-11-20T10:00:00.000Z") }
      yield* accounts.setFrozen(provider.id, frozen)
      yield* accounts.updateProvider({ ...provider, name: "Other" })
      const found = Option.getOrThrow(yield* accounts.findProvider(provider.id))
      assert.deepEqual([found.name, found.frozen], ["Other", frozen])
      yield* accounts.setFrozen(provider.id, undefined)
      assert.equal(Option.getOrThrow(yield* accounts.findProvider(provider.id)).frozen, undefined)
      assert.deepEqual(yield* accounts.findProvider(other.id), Option.some(other))
    })
  ),

  rule(
    "keeps a provider's fee, whatever else of the account changes",
    Effect.gen(function* () {
      const accounts = yield* AccountStore
      const [provider, other] = [yield* aProvider(), yield* aProvider()]
      assert.deepEqual(yield* accounts.feeOf(provider.id), Option.some(NO_OWN_FEE))
      const effectiveFrom = instant("2026-12-01T00:00:00.123Z")
      const change = { at: instant("2026-11-20T10:11:12.345Z"), by: "Ada", reason: undefined }
      const fees: ReadonlyArray<ProviderFee> = [
        { own: 0, upcoming: { own: FEE_BASIS_POINTS_MAX, effectiveFrom } },
        { own: undefined, upcoming: { own: 1_500, effectiveFrom } },
        { own: 250, upcoming: { own: undefined, effectiveFrom } },
        { own: 1, upcoming: undefined }
      ]
      for (const fee of fees) {
        yield* accounts.setFee(provider.id, { ...change, fee })
        yield* accounts.updateProvider({ ...provider, name: "Other" })
        assert.deepEqual(yield* accounts.feeOf(provider.id), Option.some(fee))
        const { id } = yield* putTool(provider, {}, instant("2026-11-20T10:11:12.345Z"))
        const entry = yield* (yield* CatalogStore).find(id)
        assert.deepEqual(Option.getOrThrow(entry).provider.fee, fee)
      }
      assert.deepEqual(yield* accounts.feeOf(other.id), Option.some(NO_OWN_FEE))
      const unknown = ProviderId.make(yield* (yield* Entropy).uuid)
      assert.deepEqual(yield* accounts.feeOf(unknown), Option.none())
    })
  ),

  rule(
    "adds every fee of a provider to its history",
    Effect.gen(function* () {
      const accounts = yield* AccountStore
      const [provider, other] = [yield* aProvider(), yield* aProvider()]
      const first = { fee: NO_OWN_FEE, at: provider.createdAt, by: "registration", reason: undefined }
      assert.deepEqual(yield* accounts.feeHistory(provider.id), [first])
      const at = instant("2026-11-20T10:11:12.345Z")
      const upcoming = { own: FEE_BASIS_POINTS_MAX, effectiveFrom: instant("2026-12-01T00:00:00.123Z") }
      const lowered = { fee: { own: 0, upcoming: undefined }, at, by: "Ada", reason: "Agreed for a year." }
      const raised = { fee: { own: 0, upcoming }, at, by: "API key", reason: undefined }
      for (const change of [lowered, raised, lowered]) yield* accounts.setFee(provider.id, change)
      assert.deepEqual(yield* accounts.feeHistory(provider.id), [lowered, raised, lowered, first])
      for (let n = 0; n < FEE_CHANGES_SHOWN_MAX; n++) yield* accounts.setFee(provider.id, raised)
      const shown = yield* accounts.feeHistory(provider.id)
      assert.deepEqual([shown.length, shown.at(-1)], [FEE_CHANGES_SHOWN_MAX, raised])
      assert.equal((yield* accounts.feeHistory(other.id)).length, 1)
    })
  ),

  rule(
    "keeps the first erasure of an account on record",
    Effect.gen(function* () {
      const accounts = yield* AccountStore
      const owners = [
        { ownerId: (yield* aConsumer()).id, role: "consumer" },
        { ownerId: (yield* aProvider()).id, role: "provider" }
      ] as const
      for (const owner of owners) {
        const at = instant("2026-11-20T12:00:00.123Z")
        const first = { ...owner, by: "Ada, ticket 4711", at, leftMicrocents: -12n }
        assert.deepEqual(yield* accounts.erasureOf(owner.ownerId), Option.none())
        yield* accounts.recordErasure(first)
        yield* accounts.recordErasure({ ...first, by: "another", leftMicrocents: 0n })
        assert.deepEqual(yield* accounts.erasureOf(owner.ownerId), Option.some(first))
      }
    })
  ),

  rule(
    "returns every field of a stored consumer",
    Effect.gen(function* () {
      const accounts = yield* AccountStore
      const plain = yield* aConsumer()
      const extreme = yield* aConsumer({
        name: "\u202Eright to left\u202C",
        useCase: "line\nline\ttab",
        rateLimitRpm: 0,
        createdAt: instant("1999-12-31T23:59:59.001Z")
      })
      for (const consumer of [plain, extreme]) {
        assert.deepEqual(yield* accounts.findConsumer(consumer.id), Option.some(consumer))
      }
    })
  ),

  rule(
    "sets and removes the default cap of one consumer",
    Effect.gen(function* () {
      const accounts = yield* AccountStore
      const [consumer, other] = [yield* aConsumer(), yield* aConsumer()]
      for (const defaultCap of [0n, MICROCENTS_MAX, undefined]) {
        const cap = defaultCap === undefined ? undefined : Microcents.make(defaultCap)
        yield* accounts.setDefaultCap(consumer.id, cap)
        assert.deepEqual(Option.getOrThrow(yield* accounts.findConsumer(consumer.id)).defaultCap, cap)
      }
      yield* accounts.setDefaultCap(consumer.id, Microcents.make(7n))
      assert.deepEqual(yield* accounts.findConsumer(other.id), Option.some(other))
    })
  ),

  rule(
    "finds no account by an unknown ID, and no consumer by a provider's ID",
    Effect.gen(function* () {
      const accounts = yield* AccountStore
      const unknown = yield* (yield* Entropy).uuid
      assert.deepEqual(yield* accounts.findProvider(ProviderId.make(unknown)), Option.none())
      assert.deepEqual(yield* accounts.findConsumer(ConsumerId.make(unknown)), Option.none())
      const provider = yield* aProvider()
      assert.deepEqual(yield* accounts.findConsumer(ConsumerId.make(provider.id)), Option.none())
    })
  ),

  rule(
    "counts accounts by role",
    Effect.gen(function* () {
      const accounts = yield* AccountStore
      const before = yield* accounts.counts
      yield* aProvider()
      yield* aConsumer()
      yield* aConsumer()
      assert.deepEqual(yield* accounts.counts, {
        providers: before.providers + 1,
        consumers: before.consumers + 2
      })
    })
  ),

  rule(
    "accepts an email address twice, but rejects a known ID",
    Effect.gen(function* () {
      const accounts = yield* AccountStore
      const first = yield* aProvider({ name: "the first" })
      yield* aProvider({ email: first.email })
      assert.equal(Exit.isFailure(yield* Effect.exit(aProvider({ id: first.id, name: "the second" }))), true)
      assert.deepEqual(yield* accounts.findProvider(first.id), Option.some(first))
    })
  )
]
