/**
 * Withdrawals of unspent funds. Each is paid as one refund per load that brought the money:
 * requested → refunding → paid or failed; returned where the processor could not deliver it after all.
 */
import { Context, type DateTime, type Effect, type Option, Schema } from "effect"
import type { ConsumerId, LoadId, WithdrawalId, WithdrawalPartId } from "../shared/Ids.ts"

export const WithdrawalPartState = Schema.Literals(["requested", "refunding", "paid", "failed", "returned"])
export type WithdrawalPartState = typeof WithdrawalPartState.Type

export interface WithdrawalPart {
  readonly id: WithdrawalPartId
  readonly withdrawalId: WithdrawalId
  readonly consumerId: ConsumerId
  readonly loadId: LoadId
  /** At the processor. */
  readonly paymentId: string
  /** Out of the wallet. */
  readonly amountCents: number
  /** What the processor kept of the load for this part; the rest is refunded. */
  readonly feeCents: number
  readonly state: WithdrawalPartState
  readonly refundId: string | undefined
  readonly failure: string | undefined
  readonly attempts: number
  /** Nobody works on it before then: a lease, and the pause after an attempt whose outcome is not known. */
  readonly nextAttemptAt: DateTime.Utc
}

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
    /** False where the id is known already: then nothing is changed. */
    insert(withdrawal: Withdrawal): Effect.Effect<boolean>
    find(id: WithdrawalId): Effect.Effect<Option.Option<Withdrawal>>
    /** Newest first. */
    list(consumerId: ConsumerId, limit: number): Effect.Effect<ReadonlyArray<Withdrawal>>
    /** Locked until the unit of work around it ends. */
    lockPart(id: WithdrawalPartId): Effect.Effect<Option.Option<WithdrawalPart>>
    updatePart(part: WithdrawalPart): Effect.Effect<void>
    /** Open ones whose next attempt is due, the longest waiting first. */
    due(now: DateTime.Utc, limit: number): Effect.Effect<ReadonlyArray<WithdrawalPartId>>
    /** Whether a part is still under way. */
    hasOpen(consumerId: ConsumerId): Effect.Effect<boolean>
    /** What was withdrawn of each load, or is being withdrawn. */
    withdrawnCents(consumerId: ConsumerId): Effect.Effect<ReadonlyMap<LoadId, number>>
  }
>()("agent-tool-billing/domain/payments/WithdrawalStore") {}
