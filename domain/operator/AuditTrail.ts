/**
 * Records what the operator changes, in the unit of work that changes it: no action succeeds without its entry.
 */
import { Context, DateTime, Effect, Layer } from "effect"
import { Entropy } from "../shared/Entropy.ts"
import type { Page, PageRequest } from "../shared/Page.ts"
import type { StoreUnavailable } from "../shared/StoreUnavailable.ts"
import { UnitOfWork } from "../shared/UnitOfWork.ts"
import { type AuditEntry, AuditEntryId, type AuditFilter, AuditTrailStore } from "./AuditTrailStore.ts"

export const AUDIT_DETAILS_CHARS_MAX = 2_000
export const AUDIT_REASON_CHARS_MAX = 1_000

/** What an entry says besides its id and time. */
export type AuditedWork = Omit<AuditEntry, "id" | "at">

export class AuditTrail extends Context.Service<
  AuditTrail,
  {
    /** The work and its entry are committed together. */
    audited<A, E>(work: Effect.Effect<A, E>, entry: AuditedWork): Effect.Effect<A, E | StoreUnavailable>
    /** For work that was committed before. */
    record(entry: AuditedWork): Effect.Effect<void, StoreUnavailable>
    list(filter: AuditFilter, page: PageRequest): Effect.Effect<Page<AuditEntry>, StoreUnavailable>
  }
>()("agent-tool-billing/domain/operator/AuditTrail") {
  static readonly layer = Layer.effect(
    AuditTrail,
    Effect.gen(function* () {
      const store = yield* AuditTrailStore
      const entropy = yield* Entropy
      const { atomically } = yield* UnitOfWork

      const record = Effect.fn("AuditTrail.record")(function* (entry: AuditedWork) {
        yield* store.append({
          ...entry,
          id: AuditEntryId.make(yield* entropy.uuid),
          at: yield* DateTime.now,
          reason: entry.reason?.slice(0, AUDIT_REASON_CHARS_MAX),
          details: entry.details?.slice(0, AUDIT_DETAILS_CHARS_MAX)
        })
      })

      const audited = <A, E>(work: Effect.Effect<A, E>, entry: AuditedWork) =>
        atomically(Effect.tap(work, () => record(entry)))

      return AuditTrail.of({ audited, record, list: store.list })
    })
  )
}
