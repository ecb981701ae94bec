/**
 * Receipts in memory.
 */
import { Effect, Layer, Option } from "effect"
import { type ReceiptOwner, receiptsCountedMax, ReceiptStore } from "../../../domain/receipts/Receipts.ts"
import { isIssuedReceiptId } from "../../../domain/shared/Ids.ts"
import { type Page, pageOf, type PageRequest } from "../../../domain/shared/Page.ts"
import { type ClosedCallRow, MemoryLedger } from "../ledger/MemoryLedger.ts"

// Closed calls of an owner, for the memory stores of receipts and usage.

/** They have no order. A provider's own test calls are in its list twice: as caller and as provider. */
export const callsOf = (ledger: MemoryLedger["Service"], owner: ReceiptOwner): ReadonlyArray<ClosedCallRow> =>
  [...new Set(ledger.closedCallsOf.get(owner.ownerId))].filter(
    (call) => owner.ownerId === (owner.role === "consumer" ? call.consumerId : call.receipt.provider_id)
  )

/** Newest first, in the order of receipt ids. */
export const newestPage = <A>(
  calls: ReadonlyArray<ClosedCallRow>,
  { after, limit, offset }: PageRequest,
  show: (call: ClosedCallRow) => A
): Page<A> => {
  const idOf = (call: ClosedCallRow): string => call.receipt.receipt_id
  const sorted = calls.toSorted((a, b) => (idOf(a) < idOf(b) ? 1 : -1))
  const beyond =
    after === undefined ? sorted : sorted.filter((call) => isIssuedReceiptId(after.id) && idOf(call) < after.id)
  const page = pageOf(beyond.slice(offset, offset + limit + 1), limit, calls.length, (last) => ({
    key: "",
    id: idOf(last)
  }))
  return { ...page, items: page.items.map(show) }
}

export const layer = Layer.effect(
  ReceiptStore,
  Effect.map(MemoryLedger, (ledger) =>
    ReceiptStore.of({
      find: (id) => Effect.sync(() => Option.fromUndefinedOr(ledger.closedCalls.get(id)?.receipt)),
      settledOf: (id) =>
        Effect.sync(() =>
          Option.map(
            Option.fromUndefinedOr(ledger.closedCalls.get(id)),
            ({ cause, fee, feeBasisPoints, holdMs, requestId }) => ({
              cause,
              feeBasisPoints,
              fee,
              requestId,
              holdMs
            })
          )
        ),
      findArchived: () => Effect.succeedNone,
      archivedBefore: Effect.undefined,
      list: (owner, filter, page) =>
        Effect.sync(() => {
          const found = newestPage(
            callsOf(ledger, owner).filter(
              ({ levelId, receipt }) =>
                (filter.levelId === undefined || levelId === filter.levelId) &&
                (filter.toolId === undefined || receipt.tool_id === filter.toolId) &&
                (filter.status === undefined || receipt.status === filter.status) &&
                (filter.from === undefined || receipt.timestamp >= filter.from) &&
                (filter.to === undefined || receipt.timestamp < filter.to)
            ),
            page,
            (call) => call.receipt
          )
          return { ...found, total: Math.min(found.total, receiptsCountedMax(filter)) }
        })
    })
  )
)
