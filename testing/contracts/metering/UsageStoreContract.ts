/**
 * What a UsageStore must do.
 */
import { DateTime, Effect } from "effect"
import assert from "node:assert/strict"
import type { AccountStore } from "../../../domain/accounts/Account.ts"
import type { CatalogStore } from "../../../domain/catalog/CatalogStore.ts"
import type { LedgerStore } from "../../../domain/ledger/LedgerStore.ts"
import { LogStore } from "../../../domain/log/LogStore.ts"
import type { CallStore } from "../../../domain/metering/CallStore.ts"
import {
  noUsage,
  type UsageFilter,
  type UsageOfToolDay,
  UsageStore,
  type UsageTotals
} from "../../../domain/metering/Usage.ts"
import type { ReceiptOwner } from "../../../domain/receipts/Receipts.ts"
import type { PageRequest } from "../../../domain/shared/Page.ts"
import { UnitOfWork } from "../../../domain/shared/StoreUnavailable.ts"
import { aProvider } from "../shared/AccountSamples.ts"
import { type Ending, receiptIdAt } from "../shared/CallSamples.ts"
import type { Contract } from "../shared/Contract.ts"
import { consumerWith, ledgerRule } from "../shared/LedgerSamples.ts"
import { aListedTool, called, type CalledTool, FIRST_PAGE } from "../shared/ToolSamples.ts"

const SINCE = DateTime.makeUnsafe("2026-11-19T10:00:00.000Z")

/** Totals of sample calls: 123 ms, 200 and 3,000 bytes, 40 and 50 tokens each; the fee is a tenth. */
const totals = (calls: number, successes: number, spend: bigint): UsageTotals => ({
  calls,
  successes,
  spendMicrocents: spend,
  feeMicrocents: spend / 10n,
  latencyMs: 123n * BigInt(calls),
  requestBytes: 200n * BigInt(calls),
  responseBytes: 3_000n * BigInt(calls),
  tokensInput: 40n * BigInt(calls),
  tokensOutput: 50n * BigInt(calls)
})

const named = (row: UsageOfToolDay): string => `${row.date} ${row.toolName}`

const recent = Effect.fnUntraced(function* (
  owner: ReceiptOwner,
  filter: Partial<UsageFilter> = {},
  page: Partial<PageRequest> = {}
) {
  const asked = { since: SINCE, toolId: undefined, status: undefined, ...filter }
  const { calls, totals } = yield* (yield* UsageStore).recent(owner, asked, { ...FIRST_PAGE, ...page })
  return { totals, ids: calls.items.map((call) => call.receiptId), total: calls.total, calls }
})

/** Two tools of one provider, called by one consumer on two days; the first call is before the period. */
const aHistory = Effect.gen(function* () {
  const consumerId = yield* consumerWith(100_000)
  const provider = yield* aProvider()
  const [a, b] = [yield* aListedTool(provider, "a"), yield* aListedTool(provider, "b")]
  const call = Effect.fnUntraced(function* (tool: CalledTool, at: string, ending: Ending = {}) {
    const invocationId = yield* receiptIdAt(DateTime.makeUnsafe(at))
    yield* called(consumerId, tool, at, ending, { invocationId })
    return invocationId
  })
  yield* call(a, "2026-11-19T09:59:59.999Z")
  const calls = [
    yield* call(a, "2026-11-19T10:00:00.000Z"),
    yield* call(a, "2026-11-19T23:59:59.999Z", { cost: 0, status: "error" }),
    yield* call(a, "2026-11-20T00:00:00.000Z", { cost: 500 }),
    yield* call(b, "2026-11-20T00:00:00.001Z", { cost: 0, status: "timeout" })
  ] as const
  const consumer: ReceiptOwner = { role: "consumer", ownerId: consumerId }
  return { consumer, provider: { role: "provider", ownerId: provider.id } as ReceiptOwner, a, b, calls }
})

/** What the owners see of their usage. */
const seenBy = (owners: ReadonlyArray<ReceiptOwner>, since: DateTime.Utc) =>
  Effect.forEach(owners, (owner) =>
    Effect.gen(function* () {
      const days = yield* (yield* UsageStore).byToolAndDay(owner, since)
      return [days.toSorted((x, y) => (named(x) < named(y) ? -1 : 1)), yield* recent(owner, { since })]
    })
  )

export const usageStoreContract: Contract<
  AccountStore | CallStore | CatalogStore | LedgerStore | LogStore | UnitOfWork | UsageStore
> = [
  ledgerRule(
    "totals a period from its first instant, for consumer and provider",
    Effect.gen(function* () {
      const { calls, consumer, provider } = yield* aHistory
      const newestFirst = calls.toReversed()
      for (const owner of [consumer, provider]) {
        const seen = yield* recent(owner)
        assert.deepEqual([seen.totals, seen.ids, seen.total], [totals(4, 2, 1_500n), newestFirst, 4])
      }
    })
  ),

  ledgerRule(
    "lists tool, time, status and cost of each call",
    Effect.gen(function* () {
      const { a, calls, consumer } = yield* aHistory
      const { items } = (yield* recent(consumer)).calls
      assert.deepEqual(items[1], {
        receiptId: calls[2],
        toolId: a.toolId,
        toolName: "a",
        status: "success",
        costMicrocents: 500n,
        durationMs: 123,
        calledAt: "2026-11-20T00:00:00.000Z"
      })
    })
  ),

  ledgerRule(
    "filters the listed and counted calls, but not the totals",
    Effect.gen(function* () {
      const { a, b, calls, consumer } = yield* aHistory
      const [first, failed, half, late] = calls
      for (const [filter, ids] of [
        [{ toolId: a.toolId }, [half, failed, first]],
        [{ toolId: b.toolId }, [late]],
        [{ status: "success" }, [half, first]],
        [{ status: "error" }, [failed]],
        [{ status: "timeout" }, [late]],
        [{ status: "rate_limited" }, []],
        [{ toolId: a.toolId, status: "success" }, [half, first]],
        [{ toolId: b.toolId, status: "success" }, []]
      ] as const) {
        const seen = yield* recent(consumer, filter)
        assert.deepEqual([seen.ids, seen.total], [[...ids], ids.length], JSON.stringify(filter))
        assert.deepEqual(seen.totals, totals(4, 2, 1_500n))
      }
    })
  ),

  ledgerRule(
    "pages by offset and by cursor",
    Effect.gen(function* () {
      const { calls, consumer } = yield* aHistory
      const [first, failed, half, late] = calls
      const page = yield* recent(consumer, {}, { limit: 3 })
      assert.deepEqual([page.ids, page.total], [[late, half, failed], 4])
      const next = yield* recent(consumer, {}, { limit: 3, after: page.calls.next })
      assert.deepEqual([next.ids, next.total, next.calls.next], [[first], 4, undefined])
      assert.deepEqual((yield* recent(consumer, {}, { limit: 1, offset: 2 })).ids, [failed])
    })
  ),

  ledgerRule(
    "totals each tool per UTC day",
    Effect.gen(function* () {
      const store = yield* UsageStore
      const { a, b, consumer, provider } = yield* aHistory
      const inOrder = (rows: ReadonlyArray<UsageOfToolDay>) =>
        rows.toSorted((x, y) => `${x.date} ${x.toolName}`.localeCompare(`${y.date} ${y.toolName}`))
      for (const owner of [consumer, provider]) {
        assert.deepEqual(inOrder(yield* store.byToolAndDay(owner, SINCE)), [
          { ...totals(2, 1, 1_000n), toolId: a.toolId, toolName: "a", date: "2026-11-19" },
          { ...totals(1, 1, 500n), toolId: a.toolId, toolName: "a", date: "2026-11-20" },
          { ...totals(1, 0, 0n), toolId: b.toolId, toolName: "b", date: "2026-11-20" }
        ])
      }
    })
  ),

  ledgerRule(
    "rolls hours up into days, up to a limit, without changing totals of whole days",
    Effect.gen(function* () {
      const store = yield* UsageStore
      const consumerId = yield* consumerWith(100_000)
      const provider = yield* aProvider()
      const [a, b] = [yield* aListedTool(provider, "a"), yield* aListedTool(provider, "b")]
      for (const [tool, at] of [
        [a, "2026-01-05T00:30:00.000Z"],
        [a, "2026-01-05T03:00:00.000Z"],
        [b, "2026-01-05T03:00:00.000Z"],
        [a, "2026-01-05T23:59:59.999Z"],
        [a, "2026-01-06T07:00:00.000Z"],
        [a, "2026-01-07T07:00:00.000Z"]
      ] as const) {
        yield* called(consumerId, tool, at)
      }
      const since = DateTime.makeUnsafe("2026-01-05T00:00:00.000Z")
      const owners: ReadonlyArray<ReceiptOwner> = [
        { role: "consumer", ownerId: consumerId },
        { role: "provider", ownerId: provider.id }
      ]
      const seen = seenBy(owners, since)
      const before = yield* seen
      yield* store.countWaiting
      const lastDay = DateTime.makeUnsafe("2026-01-07T00:00:00.000Z")
      for (let n = 0, taken = 1; taken > 0; n++) {
        assert.ok(n < 10)
        taken = yield* store.rollUp(lastDay, 1)
        assert.ok(taken <= 1)
        assert.deepEqual(yield* seen, before)
      }
      yield* called(consumerId, a, "2026-01-05T11:00:00.000Z")
      yield* store.rollUp(lastDay, 1_000)
      assert.equal((yield* recent(owners[0]!, { since })).totals.calls, 7)
      const afterwards = DateTime.makeUnsafe("2026-01-07T06:00:00.000Z")
      assert.equal((yield* recent(owners[0]!, { since: afterwards })).totals.calls, 1, "later hours are left")
    })
  ),

  ledgerRule(
    "totals every call once, before and after the log takes it",
    Effect.gen(function* () {
      const store = yield* UsageStore
      const log = yield* LogStore
      const { atomically } = yield* UnitOfWork
      const { consumer, provider } = yield* aHistory
      const seen = seenBy([consumer, provider], SINCE)
      const before = yield* seen
      const taken = atomically(log.take(1_000))
      const interrupted = atomically(Effect.andThen(log.take(1_000), Effect.die(new Error("the node went away"))))
      const steps = [
        ["an interrupted batch", Effect.exit(interrupted)],
        ["all calls before the log takes them", store.countWaiting],
        ["two nodes", Effect.all([taken, store.countWaiting, taken], { concurrency: "unbounded" })],
        ["whatever they left to each other", taken]
      ] as const
      for (const [name, step] of steps) {
        yield* step
        assert.deepEqual(yield* seen, before, name)
      }
      assert.equal(yield* store.countWaiting, 0)
    })
  ),

  ledgerRule(
    "returns nothing for accounts without calls",
    Effect.gen(function* () {
      yield* aHistory
      const strangers: ReadonlyArray<ReceiptOwner> = [
        { role: "consumer", ownerId: yield* consumerWith(1) },
        { role: "provider", ownerId: (yield* aProvider()).id }
      ]
      for (const owner of strangers) {
        const seen = yield* recent(owner)
        assert.deepEqual([seen.totals, seen.ids, seen.total], [noUsage, [], 0])
        assert.deepEqual(yield* (yield* UsageStore).byToolAndDay(owner, SINCE), [])
      }
    })
  )
]
