/**
 * Records what the operator changes, in the unit of work that changes it: no action succeeds without its entry.
 */
import { Context, DateTime, Effect, Layer, Schema } from "effect"
import type { OperatorSessionId } from "../accounts/Authentication.ts"
import { Entropy } from "../shared/Cryptography.ts"
import { Uuid } from "../shared/Ids.ts"
import type { Page, PageRequest } from "../shared/Page.ts"
import { type StoreUnavailable, UnitOfWork } from "../shared/StoreUnavailable.ts"

/** Identifies an entry of the audit trail. It is a UUID, ordered by time. */
export const AuditEntryId = Uuid.pipe(Schema.brand("AuditEntryId"))
export type AuditEntryId = typeof AuditEntryId.Type

/** Everything that the operator can change. */
export const AuditedAction = Schema.Literals([
  "session.create",
  "session.end",
  "session.end_all",
  "account.freeze",
  "account.unfreeze",
  "provider.freeze",
  "provider.unfreeze",
  "payout.retry",
  "dispute.decide",
  "funds.move",
  "reserve.set",
  "platform_fee.set",
  "handle.set",
  "invoices.run",
  "invoice.credit",
  "schema.update"
])
export type AuditedAction = typeof AuditedAction.Type

/** One action of the operator that succeeded. */
export interface AuditEntry {
  readonly id: AuditEntryId
  readonly at: DateTime.Utc
  readonly action: AuditedAction
  /** The name that was given at the sign-in; `API key` for a request with the key itself. */
  readonly actor: string
  readonly sessionId: OperatorSessionId | undefined
  readonly address: string
  /** The account, dispute or invoice that the action is about. */
  readonly subject: string | undefined
  readonly reason: string | undefined
  /** The body of the request as JSON, without white space. */
  readonly details: string | undefined
}

/** Entries of one action, or about one account, dispute or document. */
export interface AuditFilter {
  readonly action: AuditedAction | undefined
  readonly subject: string | undefined
}

/** Port to the audit trail. Entries are added and read, never changed or deleted. */
export class AuditTrailStore extends Context.Service<
  AuditTrailStore,
  {
    append(entry: AuditEntry): Effect.Effect<void, StoreUnavailable>
    /** Newest first. */
    list(filter: AuditFilter, page: PageRequest): Effect.Effect<Page<AuditEntry>, StoreUnavailable>
  }
>()("agent-tool-billing/domain/operator/AuditTrailStore") {}

export const AUDIT_DETAILS_CHARS_MAX = 2_000
export const AUDIT_REASON_CHARS_MAX = 1_000

/** An entry without its id and time. */
export type AuditedWork = Omit<AuditEntry, "id" | "at">

export class AuditTrail extends Context.Service<
  AuditTrail,
  {
    /** The work and its entry are committed together. */
    audited<A, E>(work: Effect.Effect<A, E>, entry: AuditedWork): Effect.Effect<A, E | StoreUnavailable>
    /** Records work that was committed before. */
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
