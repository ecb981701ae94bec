/**
 * Stores grants and the reservations in them. Every operation except `reservedBefore` runs inside a unit of work.
 */
import { Context, type DateTime, type Effect, type Option } from "effect"
import type { ConsumerId, GrantId, ProviderId, ReceiptId } from "../shared/Ids.ts"
import type { Grant, Reservation } from "./Grant.ts"
import type { StoreUnavailable } from "../shared/StoreUnavailable.ts"

export class GrantStore extends Context.Service<
  GrantStore,
  {
    insert(grant: Grant): Effect.Effect<void, StoreUnavailable>
    /**
     * Newest first: the live ones, and the newest of the others. All grants of the consumer stay locked until the unit of
     * work ends.
     */
    ofConsumer(consumerId: ConsumerId, now: DateTime.Utc): Effect.Effect<ReadonlyArray<Grant>, StoreUnavailable>
    /** The live grants between the two, oldest first; locked as in `ofConsumer`. */
    between(
      consumerId: ConsumerId,
      providerId: ProviderId,
      now: DateTime.Utc
    ): Effect.Effect<ReadonlyArray<Grant>, StoreUnavailable>
    /** A grant of the consumer, live or not; locked as in `ofConsumer`. */
    find(consumerId: ConsumerId, id: GrantId): Effect.Effect<Option.Option<Grant>, StoreUnavailable>
    revoke(consumerId: ConsumerId, id: GrantId, at: DateTime.Utc): Effect.Effect<Option.Option<Grant>, StoreUnavailable>
    setSpent(
      id: GrantId,
      consumerId: ConsumerId,
      spent: bigint,
      periodStart: DateTime.Utc
    ): Effect.Effect<void, StoreUnavailable>
    /** At most one per call. */
    reserve(reservation: Reservation): Effect.Effect<void, StoreUnavailable>
    /** Removes and returns the reservation; none where it was removed before. */
    takeReservation(
      consumerId: ConsumerId,
      invocationId: ReceiptId
    ): Effect.Effect<Option.Option<Reservation>, StoreUnavailable>
    /** At most `limit` reservations made before this time, oldest first. */
    reservedBefore(before: DateTime.Utc, limit: number): Effect.Effect<ReadonlyArray<Reservation>, StoreUnavailable>
  }
>()("agent-tool-billing/domain/metering/GrantStore") {}
