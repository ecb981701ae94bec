/**
 * What a ReceiptStore must do.
 */
import { DateTime, Effect, Option } from "effect"
import assert from "node:assert/strict"
import type { AccountStore } from "../../../domain/accounts/Account.ts"
import type { CatalogStore } from "../../../domain/catalog/CatalogStore.ts"
import type { LedgerStore } from "../../../domain/ledger/LedgerStore.ts"
import type { CallStore } from "../../../domain/metering/CallStore.ts"
import { type ReceiptFilter, type ReceiptOwner, ReceiptStore } from "../../../domain/receipts/Receipts.ts"
import { ConsumerId, ReceiptId } from "../../../domain/shared/Ids.ts"
import type { PageRequest } from "../../../domain/shared/Page.ts"
import type { UnitOfWork } from "../../../domain/shared/StoreUnavailable.ts"
import { aProvider } from "../shared/AccountSamples.ts"
import { aReceiptId, type Ending, receiptIdAt } from "../shared/CallSamples.ts"
import type { Contract } from "../shared/Contract.ts"
import { consumerWith, ledgerRule, money } from "../shared/LedgerSamples.ts"
import { aListedTool, called, type CalledTool, FIRST_PAGE } from "../shared/ToolSamples.ts"

const ALL: ReceiptFilter = { toolId: undefined, status: undefined, from: undefined, to: undefined }

const calledOnce = (consumerId: ConsumerId, tool: CalledTool) =>
  Effect.map(called(consumerId, tool, "2026-11-20T10:00:00.000Z"), ({ receipt }) => receipt.receipt_id)

const idsOf = Effect.fnUntraced(function* (
  owner: ReceiptOwner,
  filter: Partial<ReceiptFilter> = {},
  page: Partial<PageRequest> = {}
) {
  const { items, next, total } = yield* (yield* ReceiptStore).list(
    owner,
    { ...ALL, ...filter },
    { ...FIRST_PAGE, ...page }
  )
  return { ids: items.map((receipt) => receipt.receipt_id), next, total }
})

export const receiptStoreContract: Contract<
  AccountStore | CallStore | CatalogStore | LedgerStore | ReceiptStore | UnitOfWork
> = [
  ledgerRule(
    "returns every field of a receipt as signed, to the millisecond",
    Effect.gen(function* () {
      const store = yield* ReceiptStore
      const consumerId = yield* consumerWith(10_000)
      const tool = yield* aListedTool(yield* aProvider(), "search")
      for (const [at, status, cost] of [
        ["2026-11-20T10:00:00.000Z", "success", 1_000],
        ["2026-11-20T10:00:00.001Z", "error", 0],
        ["2024-02-29T23:59:59.999Z", "timeout", 1],
        ["2026-12-31T23:59:59.990Z", "rate_limited", 0]
      ] as const) {
        const { receipt } = yield* called(consumerId, tool, at, { status, cost })
        assert.deepEqual(Option.getOrThrow(yield* store.find(receipt.receipt_id)), receipt)
        assert.equal(receipt.timestamp, at)
      }
    })
  ),

  ledgerRule(
    "returns and lists an error with a cause as any other error",
    Effect.gen(function* () {
      const store = yield* ReceiptStore
      const consumerId = yield* consumerWith(10_000)
      const tool = yield* aListedTool(yield* aProvider(), "picky")
      const ids: Array<ReceiptId> = []
      for (const cause of [undefined, "input_rejected", "canceled"] as const) {
        const { receipt } = yield* called(consumerId, tool, "2026-11-20T10:00:00.000Z", { cause, status: "error" })
        assert.deepEqual(Option.getOrThrow(yield* store.find(receipt.receipt_id)), receipt)
        ids.unshift(receipt.receipt_id)
      }
      yield* calledOnce(consumerId, tool)
      const owner: ReceiptOwner = { role: "consumer", ownerId: consumerId }
      assert.deepEqual(yield* idsOf(owner, { status: "error" }), { ids, next: undefined, total: 3 })
    })
  ),

  ledgerRule(
    "finds no receipt of a call that was never closed",
    Effect.gen(function* () {
      const store = yield* ReceiptStore
      assert.deepEqual(yield* store.find(yield* aReceiptId), Option.none())
      assert.deepEqual(yield* store.findArchived(yield* aReceiptId), Option.none())
      assert.equal(yield* store.archivedBefore, undefined)
    })
  ),

  ledgerRule(
    "returns what was recorded with a receipt: the fee, the cause, the request and the time of the hold",
    Effect.gen(function* () {
      const store = yield* ReceiptStore
      const consumerId = yield* consumerWith(10_000)
      const tool = yield* aListedTool(yield* aProvider(), "settled")
      const at = "2026-11-20T10:00:00.000Z"
      const unknown = { requestId: undefined, holdMs: undefined }
      const paid = yield* called(consumerId, tool, at, { cost: 777 }, { feeBasisPoints: 2_345 })
      const caller = { cost: 0, status: "error", cause: "input_rejected" } as const
      const failed = yield* called(consumerId, tool, at, caller, { feeBasisPoints: 0 })
      assert.deepEqual(
        yield* store.settledOf(paid.receipt.receipt_id),
        Option.some({ cause: undefined, feeBasisPoints: 2_345, fee: money(182), ...unknown })
      )
      assert.deepEqual(
        yield* store.settledOf(failed.receipt.receipt_id),
        Option.some({ cause: "input_rejected", feeBasisPoints: 0, fee: money(0), ...unknown })
      )
      const uuid = "0193fa00-9c1e-7f43-8b6d-5a4e3d2c1b0a"
      for (const requestId of [
        uuid,
        uuid.toUpperCase(),
        uuid.replaceAll("-", ""),
        "sixteen.chars:16",
        "x",
        "Z".repeat(64)
      ]) {
        const { receipt } = yield* called(consumerId, tool, at, { requestId, holdMs: 40_000 })
        const recorded = Option.getOrThrow(yield* store.settledOf(receipt.receipt_id))
        assert.deepEqual([recorded.requestId, recorded.holdMs], [requestId, 40_000])
      }

      assert.deepEqual(yield* store.settledOf(yield* aReceiptId), Option.none())
    })
  ),

  ledgerRule(
    "finds nothing by an ID of another length that starts or ends like a known one",
    Effect.gen(function* () {
      const store = yield* ReceiptStore
      const consumerId = yield* consumerWith(10_000)
      const id = yield* calledOnce(consumerId, yield* aListedTool(yield* aProvider(), "search"))
      for (const other of [id.slice(0, 21), id.slice(0, -1), `${id}0`, `${id}${id.slice(5)}`]) {
        assert.deepEqual(yield* store.find(ReceiptId.make(other)), Option.none(), other)
        assert.deepEqual(yield* store.settledOf(ReceiptId.make(other)), Option.none(), other)
      }
    })
  ),

  ledgerRule(
    "lists a consumer's receipts and those of a provider's tools, newest first",
    Effect.gen(function* () {
      const [one, other] = [yield* consumerWith(10_000), yield* consumerWith(10_000)]
      const [mine, theirs] = [yield* aProvider(), yield* aProvider()]
      const tools = [yield* aListedTool(mine, "mine"), yield* aListedTool(theirs, "theirs")] as const
      const first = yield* calledOnce(one, tools[0])
      const second = yield* calledOnce(one, tools[1])
      const third = yield* calledOnce(other, tools[0])
      const consumer = (ownerId: ConsumerId): ReceiptOwner => ({ role: "consumer", ownerId })
      assert.deepEqual(yield* idsOf(consumer(one)), { ids: [second, first], next: undefined, total: 2 })
      assert.deepEqual((yield* idsOf(consumer(other))).ids, [third])
      assert.deepEqual((yield* idsOf({ role: "provider", ownerId: mine.id })).ids, [third, first])
      assert.deepEqual((yield* idsOf({ role: "provider", ownerId: theirs.id })).ids, [second])
      assert.deepEqual(yield* idsOf(consumer(ConsumerId.make(mine.id))), { ids: [], next: undefined, total: 0 })
    })
  ),

  ledgerRule(
    "lists a provider's own test call once",
    Effect.gen(function* () {
      const provider = yield* aProvider()
      const tool = yield* aListedTool(provider, "tested")
      const self = ConsumerId.make(provider.id)
      const { receipt } = yield* called(self, tool, "2026-11-20T10:00:00.000Z", {}, { holdAmount: money(0) })
      assert.deepEqual((yield* idsOf({ role: "provider", ownerId: provider.id })).ids, [receipt.receipt_id])
      assert.deepEqual((yield* idsOf({ role: "consumer", ownerId: self })).ids, [receipt.receipt_id])
    })
  ),

  ledgerRule(
    "filters by tool, status and period",
    Effect.gen(function* () {
      const consumerId = yield* consumerWith(10_000)
      const provider = yield* aProvider()
      const [a, b] = [yield* aListedTool(provider, "a"), yield* aListedTool(provider, "b")]
      // A receipt's id is made at the time of its call, or when the call is reported, at most days later.
      const now = yield* DateTime.now
      const hoursAgo = (hours: number) => DateTime.formatIso(DateTime.subtract(now, { hours }))
      const made = Effect.fnUntraced(function* (tool: CalledTool, at: string, ending: Ending = {}) {
        const invocationId = yield* receiptIdAt(ending.createdAt ?? DateTime.makeUnsafe(at))
        yield* called(consumerId, tool, at, ending, { invocationId })
        return invocationId
      })
      const [early, ten, eleven, noon] = [hoursAgo(60), hoursAgo(3), hoursAgo(2), hoursAgo(1)]
      const first = yield* made(a, ten)
      const failed = yield* made(a, eleven, { cost: 0, status: "error" })
      const last = yield* made(b, noon)
      const late = yield* made(b, early, { createdAt: now })
      const owner: ReceiptOwner = { role: "consumer", ownerId: consumerId }
      for (const [filter, ids] of [
        [{ toolId: a.toolId }, [failed, first]],
        [{ status: "error" }, [failed]],
        [{ status: "rate_limited" }, []],
        [{ toolId: a.toolId, status: "success" }, [first]],
        [{ from: eleven }, [last, failed]],
        [{ to: eleven }, [late, first]],
        [{ to: ten }, [late]],
        [{ from: early }, [late, last, failed, first]],
        [{ from: early, to: ten }, [late]],
        [{ from: early, to: noon, toolId: b.toolId }, [late]],
        [{ from: hoursAgo(59), to: noon }, [failed, first]],
        [{ from: ten, to: noon }, [failed, first]],
        [{ from: eleven, to: eleven }, []],
        [{ from: ten, to: hoursAgo(1_000) }, []]
      ] as const) {
        assert.deepEqual(yield* idsOf(owner, filter), { ids: [...ids], next: undefined, total: ids.length })
      }
    })
  ),

  ledgerRule(
    "pages by offset and by cursor, and a cursor stays valid while calls are added",
    Effect.gen(function* () {
      const consumerId = yield* consumerWith(10_000)
      const tool = yield* aListedTool(yield* aProvider(), "search")
      const made: Array<ReceiptId> = []
      const call = Effect.map(calledOnce(consumerId, tool), (id) => made.unshift(id))
      for (let n = 0; n < 5; n++) yield* call
      const owner: ReceiptOwner = { role: "consumer", ownerId: consumerId }
      const first = yield* idsOf(owner, {}, { limit: 2 })
      assert.deepEqual([first.ids, first.total], [made.slice(0, 2), 5])
      assert.deepEqual((yield* idsOf(owner, {}, { limit: 2, offset: 4 })).ids, made.slice(4))
      assert.deepEqual((yield* idsOf(owner, {}, { limit: 2, offset: 9 })).ids, [])

      yield* call
      const second = yield* idsOf(owner, {}, { limit: 2, after: first.next })
      assert.deepEqual([second.ids, second.total], [made.slice(3, 5), 6])
      const third = yield* idsOf(owner, {}, { limit: 2, after: second.next })
      assert.deepEqual([third.ids, third.next], [made.slice(5), undefined])
      assert.deepEqual((yield* idsOf(owner, {}, { after: { key: "", id: "no receipt" } })).ids, [])
    })
  )
]
