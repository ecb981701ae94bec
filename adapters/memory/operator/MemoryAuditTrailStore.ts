/**
 * The audit trail in memory.
 */
import { Effect, Layer } from "effect"
import { type AuditEntry, type AuditEntryId, AuditTrailStore } from "../../../domain/operator/AuditTrail.ts"
import { pageById } from "../shared/MemoryRows.ts"
import { put } from "../shared/MemoryUnitOfWork.ts"

export const layer = Layer.sync(AuditTrailStore, () => {
  const entries = new Map<AuditEntryId, AuditEntry>()
  return AuditTrailStore.of({
    append: (entry) => put(entries, entry.id, entry),
    list: ({ action, subject }, page) =>
      Effect.sync(() =>
        pageById(
          [...entries.values()].filter(
            (one) =>
              (action === undefined || one.action === action) && (subject === undefined || one.subject === subject)
          ),
          page
        )
      )
  })
})
