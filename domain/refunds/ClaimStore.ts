/**
 * Where claims are kept.
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
    /** Oldest first, at most `limit`; they stay as they are until the unit of work around it ends. Undefined: the platform's. */
    lockOpen(debtor: ProviderId | undefined, limit: number): Effect.Effect<ReadonlyArray<Claim>>
    setPaid(id: ClaimId, paid: Microcents): Effect.Effect<void>
    /** Who owes something, from after `after` on, by id; without the platform. */
    debtors(after: ProviderId | undefined, limit: number): Effect.Effect<ReadonlyArray<ProviderId>>
    /** Oldest first. */
    ofSubjects(subjects: ReadonlyArray<string>): Effect.Effect<ReadonlyArray<Claim>>
    /** What a provider owes in all. */
    owedBy(debtor: ProviderId): Effect.Effect<bigint>
    /** What a consumer is owed in all. */
    owedTo(creditor: ConsumerId): Effect.Effect<bigint>
    readonly totals: Effect.Effect<ClaimTotals>
    /** Until the unit of work around it ends nobody else reads what was advanced through this. */
    readonly lockAdvanced: Effect.Effect<bigint>
  }
>()("agent-tool-billing/domain/refunds/ClaimStore") {}
