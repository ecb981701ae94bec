/**
 * Port to chargebacks: payments that the payer disputes at the bank.
 */
import { Context, type DateTime, type Effect, type Option } from "effect"
import type { ConsumerId, LoadId } from "../shared/Ids.ts"
import type { Page, PageRequest } from "../shared/Page.ts"
import type { StoreUnavailable } from "../shared/StoreUnavailable.ts"

/** A payment that the payer disputed at the bank, from its opening to the bank's decision. */
export interface Chargeback {
  /** The processor's id. */
  readonly id: string
  readonly loadId: LoadId
  readonly consumerId: ConsumerId
  readonly amountCents: number
  /** The bank's decision. `won` is final. */
  readonly state: "open" | "won" | "lost"
  /** The processor's movement. `reinstated` is final: the money came back, or was never taken. */
  readonly funds: "none" | "withdrawn" | "reinstated"
  /** The operator unfroze the account: this chargeback does not freeze it again. */
  readonly released: boolean
  readonly openedAt: DateTime.Utc
  readonly updatedAt: DateTime.Utc
}

export class ChargebackStore extends Context.Service<
  ChargebackStore,
  {
    find(id: string): Effect.Effect<Option.Option<Chargeback>, StoreUnavailable>
    /** Inserts, or replaces the record of this id. */
    put(chargeback: Chargeback): Effect.Effect<void, StoreUnavailable>
    /** Newest first. */
    list(page: PageRequest): Effect.Effect<Page<Chargeback>, StoreUnavailable>
    /** Oldest first. */
    ofConsumer(consumerId: ConsumerId): Effect.Effect<ReadonlyArray<Chargeback>, StoreUnavailable>
  }
>()("agent-tool-billing/domain/payments/ChargebackStore") {}
