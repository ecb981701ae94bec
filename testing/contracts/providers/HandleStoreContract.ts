/**
 * What a HandleStore must do.
 */
import { Effect, Option } from "effect"
import assert from "node:assert/strict"
import type { AccountStore } from "../../../domain/accounts/Account.ts"
import { HandleStore, skeletonOf } from "../../../domain/accounts/Handle.ts"
import { CatalogStore } from "../../../domain/catalog/CatalogStore.ts"
import { Entropy } from "../../../domain/shared/Cryptography.ts"
import { ProviderId } from "../../../domain/shared/Ids.ts"
import { UnitOfWork } from "../../../domain/shared/StoreUnavailable.ts"
import { VerificationStore } from "../../../domain/trust/Challenge.ts"
import { aProvider, instant } from "../shared/AccountSamples.ts"
import { type Contract, rule } from "../shared/Contract.ts"
import { aTool, upserted } from "../shared/ToolSamples.ts"

const AT = instant("2026-11-20T12:00:00.000Z")

let handles = 0
/** Letters only: no two handles look alike. */
const aHandle = (): string => `handle-${[...String(++handles)].map((digit) => "abcdfhjkmn"[Number(digit)]).join("x")}`

const claimed = Effect.fnUntraced(function* (providerId: ProviderId, handle: string) {
  return yield* (yield* HandleStore).claim({ handle, skeleton: skeletonOf(handle), providerId, at: AT })
})

export const verify = Effect.fnUntraced(function* (providerId: ProviderId) {
  yield* (yield* VerificationStore).put({
    providerId,
    level: "domain",
    subject: "example.com",
    tokenHash: undefined,
    tokenSealed: undefined,
    expiresAt: undefined,
    verifiedAt: AT,
    checkedAt: AT,
    missed: 0,
    missingSince: undefined
  })
})

const anId = Effect.map(
  Effect.flatMap(Entropy, ({ uuid }) => uuid),
  (id) => ProviderId.make(id)
)

export const handleStoreContract: Contract<AccountStore | CatalogStore | HandleStore | UnitOfWork | VerificationStore> =
  [
    rule(
      "assigns a handle to one provider, which may claim it again",
      Effect.gen(function* () {
        const store = yield* HandleStore
        const [first, second] = [yield* anId, yield* anId]
        const handle = aHandle()
        assert.deepEqual(yield* store.ownersOf([handle]), new Map())
        assert.deepEqual(yield* store.resolve(handle), Option.none())
        assert.equal(yield* claimed(first, handle), true)
        assert.equal(yield* claimed(second, handle), false)
        assert.equal(yield* claimed(first, handle), true)
        assert.deepEqual(yield* store.ownersOf([handle]), new Map([[handle, first]]))
        assert.deepEqual(yield* store.resolve(handle), Option.some(first))
      })
    ),

    rule(
      "assigns no handle in a failed unit of work",
      Effect.gen(function* () {
        const { atomically } = yield* UnitOfWork
        const handle = aHandle()
        const first = yield* anId
        yield* Effect.exit(atomically(Effect.andThen(claimed(first, handle), Effect.fail("no"))))
        assert.equal(yield* claimed(yield* anId, handle), true)
      })
    ),

    rule(
      "resolves every handle of a provider to its tools, except retired ones",
      Effect.gen(function* () {
        const [store, catalog] = [yield* HandleStore, yield* CatalogStore]
        const provider = yield* aProvider()
        const tool = yield* aTool(provider, { toolName: "maps/route" })
        yield* upserted(tool)
        const [old, current] = [aHandle(), aHandle()]
        for (const handle of [old, current]) yield* claimed(provider.id, handle)
        const found = (handle: string, toolName = "maps/route") =>
          Effect.map(
            catalog.findQualified(handle, toolName),
            Option.map((entry) => entry.tool.id)
          )
        for (const handle of [old, current]) assert.deepEqual(yield* found(handle), Option.some(tool.id))
        assert.deepEqual(yield* found(current, "route"), Option.none())
        assert.deepEqual(yield* found(aHandle()), Option.none())

        yield* store.retire(old)
        assert.deepEqual(yield* found(old), Option.none())
        assert.deepEqual(yield* store.ownersOf([old]), new Map([[old, provider.id]]))
        assert.deepEqual(yield* store.resolve(old), Option.none())
        assert.equal(yield* claimed(yield* anId, old), false)
        assert.equal(yield* claimed(provider.id, old), true)
        assert.deepEqual(yield* found(old), Option.some(tool.id))
      })
    ),

    rule(
      "finds the handle of a verified provider that a handle imitates",
      Effect.gen(function* () {
        const store = yield* HandleStore
        const [original, imitator] = [yield* anId, yield* anId]
        const handle = aHandle()
        const imitation = handle.replace("handle", "h4nd1e")
        const skeleton = skeletonOf(handle)
        assert.equal(skeletonOf(imitation), skeleton)
        yield* claimed(original, handle)
        yield* claimed(imitator, imitation)
        assert.deepEqual(yield* store.imitated(skeleton, imitator), Option.none())
        yield* verify(original)
        assert.deepEqual(yield* store.imitated(skeleton, imitator), Option.some(handle))
        assert.deepEqual(yield* store.imitated(skeleton, original), Option.none())
        const listed = (yield* store.imitations(1_000)).filter((one) => one.providerId === imitator)
        const expected = { handle: imitation, providerId: imitator, imitates: handle, imitatedProviderId: original }
        assert.deepEqual(listed, [expected])
        yield* store.retire(imitation)
        const left = (yield* store.imitations(1_000)).filter((one) => one.providerId === imitator)
        assert.deepEqual(left, [])
        yield* store.retire(handle)
        assert.deepEqual(yield* store.imitated(skeleton, imitator), Option.none())
      })
    ),

    rule(
      "finds handles that are prefixes of another provider's tool names",
      Effect.gen(function* () {
        const store = yield* HandleStore
        const catalog = yield* CatalogStore
        const provider = yield* aProvider()
        const handle = aHandle()
        const tool = yield* aTool(provider, { toolName: `${handle}/echo` })
        yield* upserted(tool)
        const other = yield* anId
        assert.equal(yield* store.beginsToolName(handle, other), true)
        assert.equal(yield* store.beginsToolName(handle, provider.id), false)
        assert.equal(yield* store.beginsToolName(handle.slice(0, -1), other), false)
        yield* catalog.withdraw(provider.id, tool.id, AT)
        assert.equal(yield* store.beginsToolName(handle, other), true)
      })
    ),

    rule(
      "erases an account's handles, and assigns them to no other account",
      Effect.gen(function* () {
        const [store, catalog] = [yield* HandleStore, yield* CatalogStore]
        const provider = yield* aProvider()
        yield* upserted(yield* aTool(provider, { toolName: "echo" }))
        const handle = aHandle()
        yield* claimed(provider.id, handle)
        yield* verify(provider.id)
        yield* store.erase(provider.id)
        assert.deepEqual(yield* store.ownersOf([handle]), new Map())
        assert.deepEqual(yield* store.resolve(handle), Option.none())
        assert.deepEqual(yield* catalog.findQualified(handle, "echo"), Option.none())
        assert.deepEqual(yield* store.imitated(skeletonOf(handle), yield* anId), Option.none())
        for (const id of [yield* anId, provider.id]) assert.equal(yield* claimed(id, handle), false)
      })
    )
  ]
