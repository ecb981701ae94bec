/**
 * Receipts in memory.
 */
import { Effect, Layer, Option } from "effect"
import { ReceiptStore } from "../../../domain/receipts/Receipts.ts"
import { MemoryLedger } from "../ledger/MemoryLedger.ts"
import { callsOf, newestPage } from "./MemoryReceipts.ts"

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
      list: (owner, filter, page) =>
        Effect.sync(() =>
          newestPage(
            callsOf(ledger, owner).filter(
              ({ receipt }) =>
                (filter.toolId === undefined || receipt.tool_id === filter.toolId) &&
                (filter.status === undefined || receipt.status === filter.status) &&
                (filter.from === undefined || receipt.timestamp >= filter.from) &&
                (filter.to === undefined || receipt.timestamp < filter.to)
            ),
            page,
            (call) => call.receipt
          )
        )
    })
  )
)
