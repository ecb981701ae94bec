/**
 * Port to withdrawals of unspent funds. Each consists of one refund per load: requested → refunding → paid or failed;
 * returned if the processor could not deliver it.
 */
import { Context, type DateTime, type Effect, type Option, Schema } from "effect"
import type { ConsumerId, LoadId, WithdrawalId, WithdrawalPartId } from "../shared/Ids.ts"
import type { StoreUnavailable } from "../shared/StoreUnavailable.ts"

/** How far a refund is. `failed` and `returned` end with the money in the wallet again. */
export const WithdrawalPartState = Schema.Literals(["requested", "refunding", "paid", "failed", "returned"])
export type WithdrawalPartState = typeof WithdrawalPartState.Type

/** The refund of one payment, in whole or in part. */
export interface WithdrawalPart {
  readonly id: WithdrawalPartId
  readonly withdrawalId: WithdrawalId
  readonly consumerId: ConsumerId
  readonly loadId: LoadId
  /** At the processor. */
  readonly paymentId: string
  /** Out of the wallet. */
  readonly amountCents: number
  /** The processor's fee for this part; the rest is refunded. */
  readonly feeCents: number
  readonly state: WithdrawalPartState
  readonly refundId: string | undefined
  readonly failure: string | undefined
  readonly attempts: number
  /** Not processed before then: a lease, and the pause after an attempt with unknown outcome. */
  readonly nextAttemptAt: DateTime.Utc
}

/** An order of a consumer to get unspent funds back. It has one part for each payment that is refunded. */
export interface Withdrawal {
  readonly id: WithdrawalId
  readonly consumerId: ConsumerId
  readonly amountCents: number
  readonly createdAt: DateTime.Utc
  readonly parts: ReadonlyArray<WithdrawalPart>
}

export const isOpenPart = ({ state }: Pick<WithdrawalPart, "state">): boolean =>
  state === "requested" || state === "refunding"

export class WithdrawalStore extends Context.Service<
  WithdrawalStore,
  {
    /** False if the id exists; nothing is changed. */
    insert(withdrawal: Withdrawal): Effect.Effect<boolean, StoreUnavailable>
    find(id: WithdrawalId): Effect.Effect<Option.Option<Withdrawal>, StoreUnavailable>
    /** Newest first. */
    list(consumerId: ConsumerId, limit: number): Effect.Effect<ReadonlyArray<Withdrawal>, StoreUnavailable>
    /** Locked until the end of the unit of work. */
    lockPart(id: WithdrawalPartId): Effect.Effect<Option.Option<WithdrawalPart>, StoreUnavailable>
    updatePart(part: WithdrawalPart): Effect.Effect<void, StoreUnavailable>
    /** Open ones whose next attempt is due, longest waiting first. */
    due(now: DateTime.Utc, limit: number): Effect.Effect<ReadonlyArray<WithdrawalPartId>, StoreUnavailable>
    /** Whether a part is still open. */
    hasOpen(consumerId: ConsumerId): Effect.Effect<boolean, StoreUnavailable>
    /** What was, or is being, withdrawn of each load. */
    withdrawnCents(consumerId: ConsumerId): Effect.Effect<ReadonlyMap<LoadId, number>, StoreUnavailable>
  }
>()("agent-tool-billing/domain/payments/WithdrawalStore") {}
