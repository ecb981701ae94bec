/**
 * Where grants are kept, and what is reserved in them. All of it but the list of overdue ones inside a unit of work.
 */
import { Context, type DateTime, type Effect, type Option } from "effect"
import type { ConsumerId, GrantId, ProviderId, ReceiptId } from "../shared/Ids.ts"
import type { Grant, Reservation } from "./Grant.ts"

export class GrantStore extends Context.Service<
  GrantStore,
  {
    insert(grant: Grant): Effect.Effect<void>
    /**
     * Newest first: the live ones, and the newest of the others. Locked, like all grants of a consumer, until the unit of
     * work ends.
     */
    ofConsumer(consumerId: ConsumerId, now: DateTime.Utc): Effect.Effect<ReadonlyArray<Grant>>
    /** The live grants between the two, locked in the same way; oldest first. */
    between(consumerId: ConsumerId, providerId: ProviderId, now: DateTime.Utc): Effect.Effect<ReadonlyArray<Grant>>
    /** One of the consumer's, live or not, locked in the same way. */
    find(consumerId: ConsumerId, id: GrantId): Effect.Effect<Option.Option<Grant>>
    revoke(consumerId: ConsumerId, id: GrantId, at: DateTime.Utc): Effect.Effect<Option.Option<Grant>>
    setSpent(id: GrantId, consumerId: ConsumerId, spent: bigint, periodStart: DateTime.Utc): Effect.Effect<void>
    /** Of each call at most one. */
    reserve(reservation: Reservation): Effect.Effect<void>
    /** Takes the reservation away, once; none where somebody else did. */
    takeReservation(consumerId: ConsumerId, invocationId: ReceiptId): Effect.Effect<Option.Option<Reservation>>
    /** At most `limit` that were made before then, oldest first. */
    reservedBefore(before: DateTime.Utc, limit: number): Effect.Effect<ReadonlyArray<Reservation>>
  }
>()("agent-tool-billing/domain/metering/GrantStore") {}
