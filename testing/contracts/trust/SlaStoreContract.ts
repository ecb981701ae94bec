/**
 * What an SlaStore must do.
 */
import { DateTime, Effect, Option } from "effect"
import assert from "node:assert/strict"
import { randomUUID } from "node:crypto"
import { AccountStore } from "../../../domain/accounts/Account.ts"
import { ConsumerId, ProviderId, ToolId } from "../../../domain/shared/Ids.ts"
import { UnitOfWork } from "../../../domain/shared/StoreUnavailable.ts"
import { countOf, EXACT_CALLS_MAX, latenciesOf, lengthsIn } from "../../../domain/trust/Latencies.ts"
import { PAID_CONSUMER_MICROCENTS_MIN, type PaidDay } from "../../../domain/trust/PaidCalls.ts"
import { added, type SlaHour } from "../../../domain/trust/Sla.ts"
import { type Followed, SlaStore, type ToolCalls } from "../../../domain/trust/SlaStore.ts"
import { aConsumer, aProvider } from "../shared/AccountSamples.ts"
import { type Contract, rule } from "../shared/Contract.ts"

const hourAt = (hour: number) => DateTime.makeUnsafe(Date.UTC(2026, 10, 20, hour))
const aProviderId = () => ProviderId.make(randomUUID())
const aConsumerId = () => ConsumerId.make(randomUUID())

export const anHour = (changes: Partial<SlaHour> = {}): SlaHour => ({
  providerId: aProviderId(),
  toolId: undefined,
  hour: hourAt(10),
  calls: 3,
  successes: 2,
  timeouts: 1,
  inputRejected: 0,
  latencyMs: 60_123,
  latencies: latenciesOf([61, 61, 60_001]),
  ...changes
})

export const aPaidDay = (changes: Partial<PaidDay> = {}): PaidDay => ({
  providerId: aProviderId(),
  consumerId: aConsumerId(),
  date: "2026-11-20",
  paidMicrocents: 2_000_000n,
  paidCalls: 10,
  failedCalls: 2,
  inputRejected: 1,
  upTo: [5, 6, 7, 8, 9],
  longestMs: 6_000,
  ...changes
})

export const followed = (
  hours: ReadonlyArray<SlaHour>,
  days: ReadonlyArray<PaidDay> = [],
  tools: ReadonlyArray<ToolCalls> = []
): Followed => ({ hours, days, tools, consumers: [] })

export const slaStoreContract: Contract<AccountStore | SlaStore | UnitOfWork> = [
  rule(
    "adds to the stored counts of each hour",
    Effect.gen(function* () {
      const store = yield* SlaStore
      const hour = anHour()
      const next = anHour({ ...hour, hour: hourAt(11), calls: 2, successes: 1, timeouts: 0, inputRejected: 1 })
      const other = anHour({ ...hour, toolId: ToolId.make(randomUUID()) })
      yield* store.add(followed([hour, next, other, anHour()]))
      yield* store.add(followed([hour]))
      const found = yield* store.hours(hour.providerId, hourAt(0))
      assert.equal(found.length, 2)
      assert.deepEqual(yield* store.toolDays(hour.providerId, hourAt(0)), [other])
      assert.deepEqual(yield* store.daysOfTool(hour.providerId, other.toolId!, hourAt(0)), [other])
      assert.deepEqual(yield* store.daysOfTool(hour.providerId, other.toolId!, hourAt(11)), [])
      const unknown = ToolId.make(randomUUID())
      assert.deepEqual(yield* store.daysOfTool(hour.providerId, unknown, hourAt(0)), [])
      const twice = found.find(
        (one) => one.toolId === hour.toolId && one.hour.epochMilliseconds === hourAt(10).epochMilliseconds
      )!
      assert.deepEqual(twice, {
        ...hour,
        calls: 6,
        successes: 4,
        timeouts: 2,
        latencyMs: 120_246,
        latencies: latenciesOf([61, 61, 61, 61, 60_001, 60_001])
      })
      assert.deepEqual(
        (yield* store.hours(hour.providerId, hourAt(11))).map((one) => [one.calls, one.inputRejected]),
        [[2, 1]]
      )
      assert.deepEqual(yield* store.hours(aProviderId(), hourAt(0)), [])
    })
  ),

  rule(
    "prunes entries from before a day, up to a limit of each kind",
    Effect.gen(function* () {
      const store = yield* SlaStore
      const long = DateTime.makeUnsafe("2001-01-01T00:00:00.000Z")
      while ((yield* store.prune(DateTime.makeUnsafe("2026-01-01T00:00:00.000Z"), 1_000)) > 0);
      const providerId = aProviderId()
      const at = (text: string) => anHour({ providerId, hour: DateTime.makeUnsafe(text) })
      const old = [at("2025-01-01T05:00:00.000Z"), at("2025-01-01T06:00:00.000Z"), at("2025-01-02T00:00:00.000Z")]
      const young = at("2025-01-03T00:00:00.000Z")
      const paid = (date: string) => aPaidDay({ providerId, date })
      yield* store.add(followed([...old, young], [paid("2025-01-01"), paid("2025-01-02"), paid("2025-01-03")]))
      for (const date of ["2025-01-01", "2025-01-02", "2025-01-03"]) {
        yield* store.settle({ providerId, score: 50, badge: "basic", p95OfTools: new Map() }, date)
      }
      const left = Effect.all({
        hours: Effect.map(store.hours(providerId, long), (hours) => hours.length),
        payers: Effect.map(store.payers(providerId, "2001-01-01"), (payers) => payers.length),
        scores: Effect.map(store.history(providerId, "2001-01-01"), (scores) => scores.length)
      })
      const before = DateTime.makeUnsafe("2025-01-03T00:00:00.000Z")
      assert.deepEqual(yield* left, { hours: 4, payers: 3, scores: 3 })
      assert.equal(yield* store.prune(before, 1), 3)
      assert.deepEqual(yield* left, { hours: 3, payers: 2, scores: 2 })
      assert.equal(yield* store.prune(before, 100), 4)
      assert.deepEqual(yield* left, { hours: 1, payers: 1, scores: 1 })
      assert.equal(yield* store.prune(before, 100), 0)
      assert.deepEqual(yield* store.hours(providerId, long), [young])
    })
  ),

  rule(
    "keeps latencies exact for 10,000 calls, and limited beyond",
    Effect.gen(function* () {
      const store = yield* SlaStore
      const many = (from: number) => latenciesOf(Array.from({ length: EXACT_CALLS_MAX / 2 }, (_, n) => from + n))
      const hour = anHour({ latencies: many(5_000) })
      const read = Effect.map(store.hours(hour.providerId, hourAt(0)), ([one]) => one!.latencies)
      yield* store.add(followed([hour]))
      yield* store.add(followed([{ ...hour, latencies: many(10_000) }]))
      assert.equal(lengthsIn(yield* read), EXACT_CALLS_MAX)
      yield* store.add(followed([{ ...hour, latencies: many(20_000) }]))
      const bounded = yield* read
      assert.ok(lengthsIn(bounded) < 400)
      assert.equal(countOf(bounded), (EXACT_CALLS_MAX / 2) * 3)
    })
  ),

  rule(
    "returns a stored day with its hours and later additions",
    Effect.gen(function* () {
      const store = yield* SlaStore
      const hour = anHour()
      const next = anHour({
        ...hour,
        hour: hourAt(23),
        calls: 1,
        successes: 1,
        timeouts: 0,
        latencyMs: 9,
        latencies: latenciesOf([9])
      })
      const dayAfter = anHour({ ...next, hour: hourAt(24) })
      const tool = anHour({ ...hour, toolId: ToolId.make(randomUUID()), hour: hourAt(0) })
      const allOf = Effect.fnUntraced(function* (since: number) {
        const found = yield* store.hours(hour.providerId, hourAt(since))
        const days = Map.groupBy(found, (one) => DateTime.formatIsoDateUtc(one.hour))
        return [...days].toSorted().map(([date, ofDay]) => [date, { ...ofDay.reduce(added), hour: undefined }] as const)
      })
      yield* store.add(followed([hour, next, dayAfter, tool]))
      const before = yield* allOf(0)
      const kept = { ...added(hour, next), hour: hourAt(0) }
      yield* store.keepDays([kept])
      yield* store.keepDays([])
      assert.deepEqual(yield* allOf(0), before)
      // Part of a day: its hours.
      assert.deepEqual(
        (yield* store.hours(hour.providerId, hourAt(11))).map((one) => one.calls),
        [1, 1]
      )
      assert.deepEqual(yield* store.toolDays(hour.providerId, hourAt(0)), [tool])

      yield* store.add(followed([{ ...next, hour: hourAt(5) }]))
      const after = yield* allOf(0)
      assert.equal(after[0]![1].calls, before[0]![1].calls + 1)
      assert.deepEqual(after[1], before[1])
      // One node writes what it read before, another one all of it.
      yield* store.keepDays([kept])
      assert.deepEqual(yield* allOf(0), after)
      yield* store.keepDays([{ ...added(kept, next), hour: hourAt(0) }])
      yield* store.keepDays([kept])
      assert.deepEqual(yield* allOf(0), after)
    })
  ),

  rule(
    "totals what each consumer paid since a date, highest first",
    Effect.gen(function* () {
      const store = yield* SlaStore
      const providerId = aProviderId()
      const [one, two, poor] = [aConsumerId(), aConsumerId(), aConsumerId()]
      const day = (consumerId: ConsumerId, date: string, paidMicrocents: bigint) =>
        aPaidDay({ providerId, consumerId, date, paidMicrocents })
      yield* store.add(
        followed(
          [],
          [
            day(one, "2026-11-05", 700_000n),
            day(two, "2026-11-05", 900_000n),
            day(poor, "2026-11-05", PAID_CONSUMER_MICROCENTS_MIN - 1n),
            aPaidDay()
          ]
        )
      )
      yield* store.add(followed([], [day(one, "2026-11-05", 100_000n), day(two, "2026-11-06", 100_000n)]))
      yield* store.add(followed([], [{ ...day(one, "2026-11-07", 300_000n), upTo: [0, 0, 0, 0, 0], longestMs: 9_000 }]))
      const { date: _, providerId: __, ...calls } = aPaidDay({ consumerId: two })
      const twice = { ...calls, paidCalls: 20, failedCalls: 4, inputRejected: 2, upTo: [10, 12, 14, 16, 18] }
      assert.deepEqual(yield* store.payers(providerId, "2026-11-05"), [
        {
          ...twice,
          consumerId: one,
          paidMicrocents: 1_100_000n,
          paidCalls: 30,
          failedCalls: 6,
          inputRejected: 3,
          longestMs: 9_000
        },
        { ...twice, paidMicrocents: 1_000_000n }
      ])
      assert.deepEqual(yield* store.payers(providerId, "2026-11-06"), [])
    })
  ),

  rule(
    "accepts reported calls of tools with and without hours",
    Effect.gen(function* () {
      const store = yield* SlaStore
      const hour = anHour({ toolId: ToolId.make(randomUUID()), hour: hourAt(0) })
      const reported = (toolId: ToolId): ToolCalls => ({
        toolId,
        reported: 3,
        freeCalls: 0,
        lastCalledAt: undefined
      })
      yield* store.add(followed([hour], [], [reported(hour.toolId!)]))
      yield* store.add(followed([], [], [reported(ToolId.make(randomUUID()))]))
      assert.deepEqual(yield* store.toolDays(hour.providerId, hourAt(0)), [hour])
    })
  ),

  rule(
    "detects own calls by account and by email address",
    Effect.gen(function* () {
      const store = yield* SlaStore
      const [provider, consumer] = [yield* aProvider(), yield* aConsumer()]
      const accounts = yield* AccountStore
      const twin = { ...(yield* aConsumer()), id: aConsumerId(), email: provider.email.toUpperCase() }
      yield* accounts.insertConsumer(twin)
      const pairs = [
        { providerId: provider.id, consumerId: consumer.id },
        { providerId: provider.id, consumerId: twin.id },
        { providerId: provider.id, consumerId: ConsumerId.make(provider.id) },
        { providerId: aProviderId(), consumerId: consumer.id }
      ]
      const own = yield* store.selfDealing(pairs)
      assert.deepEqual(new Set(own), new Set([pairs[1]!, pairs[2]!]))
    })
  ),

  rule(
    "lists changed providers once, and those not checked today",
    Effect.gen(function* () {
      const store = yield* SlaStore
      const hour = anHour()
      const { providerId } = hour
      const isAmong = (today: string) => Effect.map(store.takeChanged(today, 10_000), (ids) => ids.includes(providerId))
      assert.equal(yield* isAmong("2026-11-20"), false)
      yield* store.add(followed([hour]))
      assert.equal(yield* isAmong("2026-11-20"), true)
      assert.equal(yield* isAmong("2026-11-20"), false)
      yield* store.touch(providerId)
      assert.equal(yield* isAmong("2026-11-20"), true)
      const p95OfTools = new Map([[ToolId.make(randomUUID()), 210]])
      const standing = { providerId, score: 63, badge: "trusted", p95OfTools } as const
      yield* store.settle(standing, "2026-11-19")
      assert.equal(yield* isAmong("2026-11-20"), true)
      yield* store.settle({ ...standing, score: 64 }, "2026-11-20")
      yield* store.settle({ ...standing, score: 65 }, "2026-11-20")
      assert.equal(yield* isAmong("2026-11-20"), false)
      assert.deepEqual(yield* store.catalogScore(providerId), Option.some({ ...standing, score: 65 }))
      assert.deepEqual(yield* store.history(providerId, "2026-11-01"), [
        { date: "2026-11-19", score: 63 },
        { date: "2026-11-20", score: 65 }
      ])
      assert.equal((yield* store.history(providerId, "2026-11-20")).length, 1)
      assert.deepEqual(yield* store.catalogScore(aProviderId()), Option.none())
      assert.deepEqual([...(yield* store.catalogScores([providerId, aProviderId()])).keys()], [providerId])
    })
  ),

  rule(
    "stores nothing of a failed unit of work",
    Effect.gen(function* () {
      const store = yield* SlaStore
      const { atomically } = yield* UnitOfWork
      const hour = anHour()
      const given = followed([hour], [aPaidDay({ providerId: hour.providerId })])
      yield* Effect.exit(atomically(Effect.andThen(store.add(given), Effect.fail("no" as const))))
      assert.deepEqual(yield* store.hours(hour.providerId, hourAt(0)), [])
      assert.deepEqual(yield* store.payers(hour.providerId, "2026-11-01"), [])
    })
  )
]
