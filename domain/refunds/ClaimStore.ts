/**
 * Port to claims.
 */
import { Context, type Effect } from "effect"
import type { ConsumerId, ProviderId } from "../shared/Ids.ts"
import type { Microcents } from "../shared/Microcents.ts"
import type { Claim, ClaimId } from "./Claim.ts"

export interface ClaimTotals {
  /** Owed to consumers by providers. */
  readonly byProvidersMicrocents: bigint
  /** Owed to consumers by the platform. */
  readonly byPlatformMicrocents: bigint
  /** Advanced by the platform and not paid back. */
  readonly advancedMicrocents: bigint
}

export class ClaimStore extends Context.Service<
  ClaimStore,
  {
    insert(claim: Claim): Effect.Effect<void>
    /** Oldest first, at most `limit`; locked until the end of the unit of work. Undefined: the platform's. */
    lockOpen(debtor: ProviderId | undefined, limit: number): Effect.Effect<ReadonlyArray<Claim>>
    setPaid(id: ClaimId, paid: Microcents): Effect.Effect<void>
    /** Providers that owe something, by id, after `after`. */
    debtors(after: ProviderId | undefined, limit: number): Effect.Effect<ReadonlyArray<ProviderId>>
    /** Oldest first. */
    ofSubjects(subjects: ReadonlyArray<string>): Effect.Effect<ReadonlyArray<Claim>>
    /** The total that a provider owes. */
    owedBy(debtor: ProviderId): Effect.Effect<bigint>
    /** The total that a consumer is owed. */
    owedTo(creditor: ConsumerId): Effect.Effect<bigint>
    readonly totals: Effect.Effect<ClaimTotals>
    /** Locked for readers of this figure until the end of the unit of work. */
    readonly lockAdvanced: Effect.Effect<bigint>
  }
>()("agent-tool-billing/domain/refunds/ClaimStore") {}
