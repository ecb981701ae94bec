/**
 * What a LevelStore must do, with the keys of its levels.
 */
import { DateTime, Effect, Option } from "effect"
import assert from "node:assert/strict"
import type { AccountStore } from "../../../domain/accounts/Account.ts"
import { KeyStore } from "../../../domain/accounts/Keys.ts"
import { type Level, LevelStore } from "../../../domain/accounts/Levels.ts"
import { Digest, Entropy } from "../../../domain/shared/Cryptography.ts"
import type { ConsumerId } from "../../../domain/shared/Ids.ts"
import { Microcents } from "../../../domain/shared/Microcents.ts"
import type { UnitOfWork } from "../../../domain/shared/StoreUnavailable.ts"
import { aConsumer, aKey, instant } from "../shared/AccountSamples.ts"
import { aLevelId } from "../shared/CallSamples.ts"
import { type Contract, rule } from "../shared/Contract.ts"

const NOW = instant("2026-11-22T00:00:00.000Z")
const FIRST_PAGE = { limit: 100, offset: 0, after: undefined }

const aLevel = Effect.fnUntraced(function* (consumerId: ConsumerId, above?: Level, changes: Partial<Level> = {}) {
  const id = yield* aLevelId
  const level: Level = {
    id,
    consumerId,
    kind: "key",
    path: [...(above?.path ?? []), id],
    label: "nightly",
    scopes: ["call"],
    rateLimitRpm: undefined,
    maxPrice: undefined,
    allowedTools: undefined,
    allowedProviders: undefined,
    allowedCategories: undefined,
    createdAt: NOW,
    expiresAt: undefined,
    disabledAt: undefined,
    endedAt: undefined,
    ...changes
  }
  yield* (yield* LevelStore).insert(level)
  return level
})

const aRun = Effect.fnUntraced(function* (consumerId: ConsumerId, above?: Level, changes: Partial<Level> = {}) {
  const expiresAt = DateTime.add(NOW, { hours: 1 })
  return yield* aLevel(consumerId, above, { kind: "run", expiresAt, ...changes })
})

export const levelStoreContract: Contract<AccountStore | KeyStore | LevelStore | UnitOfWork> = [
  rule(
    "keeps every field of a level, and finds the path to it from the top",
    Effect.gen(function* () {
      const store = yield* LevelStore
      const { id: consumerId } = yield* aConsumer()
      const team = yield* aLevel(consumerId, undefined, { kind: "team", scopes: undefined, label: "" })
      const key = yield* aLevel(consumerId, team, {
        scopes: ["call", "manage"],
        rateLimitRpm: 7,
        maxPrice: Microcents.make(9n),
        allowedTools: ["ada/search"],
        allowedProviders: [],
        allowedCategories: ["data", "search"],
        expiresAt: instant("2027-01-02T03:04:05.678Z"),
        disabledAt: NOW
      })
      const run = yield* aRun(consumerId, key)
      assert.deepEqual(yield* store.pathOf(run.id), [team, key, run])
      assert.deepEqual(yield* store.find(consumerId, key.id), Option.some(key))
      const { id: other } = yield* aConsumer()
      assert.deepEqual(yield* store.find(other, key.id), Option.none())
      const changed: Level = {
        ...key,
        label: "daily",
        allowedTools: undefined,
        disabledAt: undefined,
        scopes: ["read"]
      }
      yield* store.update(changed)
      assert.deepEqual(yield* store.pathOf(key.id), [team, changed])
      assert.deepEqual(yield* store.pathOf(yield* aLevelId), [])
    })
  ),

  rule(
    "finds a run by the hash of its key, with its account",
    Effect.gen(function* () {
      const store = yield* LevelStore
      const { id: consumerId } = yield* aConsumer({
        name: "Curious",
        rateLimitRpm: 77,
        defaultCap: Microcents.make(5n)
      })
      const hash = (yield* Digest).sha256Hex(yield* (yield* Entropy).hex(32))
      const id = yield* aLevelId
      const run: Level = { ...(yield* aRun(consumerId)), id, path: [id] }
      yield* store.insert(run, hash)
      assert.deepEqual(
        yield* store.findRun(hash),
        Option.some({ run, ownerName: "Curious", rateLimitRpm: 77, defaultCap: Microcents.make(5n) })
      )
      assert.deepEqual(yield* store.findRun("0".repeat(64)), Option.none())
    })
  ),

  rule(
    "ends a level with all below it, revokes their keys, and leaves the others",
    Effect.gen(function* () {
      const store = yield* LevelStore
      const keys = yield* KeyStore
      const { id: consumerId } = yield* aConsumer()
      const top = yield* aLevel(consumerId)
      const [left, right] = [yield* aLevel(consumerId, top), yield* aLevel(consumerId, top)]
      const below = yield* aRun(consumerId, left)
      const [mine, theirs] = [
        yield* aKey(consumerId, { levelId: left.id }),
        yield* aKey(consumerId, { levelId: right.id })
      ]
      yield* Effect.forEach([mine, theirs], keys.insert)
      yield* store.end(consumerId, left.id, NOW)
      const ended = yield* Effect.forEach([top, left, right, below], ({ id }) => store.find(consumerId, id))
      assert.deepEqual(
        ended.map((level) => Option.getOrThrow(level).endedAt),
        [undefined, NOW, undefined, NOW]
      )
      const revoked = new Map((yield* keys.ofOwner(consumerId, NOW)).map((key) => [key.id, key.revokedAt]))
      assert.deepEqual([revoked.get(mine.id), revoked.get(theirs.id)], [NOW, undefined])
      yield* store.end(consumerId, top.id, DateTime.add(NOW, { days: 1 }))
      assert.deepEqual(Option.getOrThrow(yield* store.find(consumerId, left.id)).endedAt, NOW)
    })
  ),

  rule(
    "lists runs newest first, those below a level alone, and counts the live ones",
    Effect.gen(function* () {
      const store = yield* LevelStore
      const { id: consumerId } = yield* aConsumer()
      const key = yield* aLevel(consumerId)
      const parent = yield* aRun(consumerId, key)
      const child = yield* aRun(consumerId, parent, { createdAt: DateTime.add(NOW, { seconds: 1 }) })
      const late = yield* aRun(consumerId, parent, { createdAt: DateTime.add(NOW, { seconds: 2 }), endedAt: NOW })
      const apart = yield* aRun(consumerId, undefined, { expiresAt: NOW })
      assert.deepEqual(yield* store.runsBelow(consumerId, parent.id, 10), [child, late])
      assert.deepEqual(yield* store.runsBelow(consumerId, parent.id, 1), [child])
      const ids = (runs: ReadonlyArray<Level>) => runs.map(({ id }) => id).toSorted()
      const all = yield* store.runs(consumerId, undefined, FIRST_PAGE)
      assert.deepEqual(ids(all.items), ids([parent, child, late, apart]))
      assert.deepEqual([all.total, all.next], [4, undefined])
      const { items } = yield* store.runs(consumerId, key.id, FIRST_PAGE)
      assert.deepEqual(ids(items), ids([parent, child, late]))
      assert.deepEqual(
        items.map(({ id }) => id),
        ids(items).toReversed()
      )
      const first = yield* store.runs(consumerId, undefined, { ...FIRST_PAGE, limit: 3 })
      const rest = yield* store.runs(consumerId, undefined, { ...FIRST_PAGE, after: first.next })
      assert.deepEqual([...first.items, ...rest.items], all.items)
      assert.equal(yield* store.liveRuns(consumerId, NOW), 2)
    })
  ),

  rule(
    "erases labels and ends all levels of an account",
    Effect.gen(function* () {
      const store = yield* LevelStore
      const [{ id: one }, { id: other }] = [yield* aConsumer(), yield* aConsumer()]
      const [mine, theirs] = [yield* aRun(one), yield* aRun(other)]
      yield* store.erase(one, NOW)
      assert.deepEqual(yield* store.find(one, mine.id), Option.some({ ...mine, label: "", endedAt: NOW }))
      assert.deepEqual(yield* store.find(other, theirs.id), Option.some(theirs))
    })
  ),

  rule(
    "changes label, expiry and level of a key",
    Effect.gen(function* () {
      const keys = yield* KeyStore
      const { id: consumerId } = yield* aConsumer()
      const level = yield* aLevel(consumerId)
      const key = yield* aKey(consumerId)
      yield* keys.insert(key)
      const changed = { ...key, label: "other", expiresAt: DateTime.add(NOW, { days: 9 }), levelId: level.id }
      yield* keys.update(changed)
      assert.deepEqual(yield* keys.ofOwner(consumerId, NOW), [changed])
    })
  )
]
