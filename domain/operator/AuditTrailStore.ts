/**
 * Port to the audit trail. Entries are added and read, never changed or deleted.
 */
import { Context, type DateTime, type Effect, Schema } from "effect"
import { Uuid } from "../shared/Ids.ts"
import type { Page, PageRequest } from "../shared/Page.ts"
import type { StoreUnavailable } from "../shared/StoreUnavailable.ts"
import type { OperatorSessionId } from "../accounts/OperatorSessionStore.ts"

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

export class AuditTrailStore extends Context.Service<
  AuditTrailStore,
  {
    append(entry: AuditEntry): Effect.Effect<void, StoreUnavailable>
    /** Newest first. */
    list(filter: AuditFilter, page: PageRequest): Effect.Effect<Page<AuditEntry>, StoreUnavailable>
  }
>()("agent-tool-billing/domain/operator/AuditTrailStore") {}
