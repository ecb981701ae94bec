/**
 * Port to claims: refunds that were decided and are not paid yet.
 */
import { Context, type Effect } from "effect"
import type { ConsumerId, ProviderId } from "../shared/Ids.ts"
import type { Microcents } from "../shared/Microcents.ts"
import type { Page, PageRequest } from "../shared/Page.ts"
import type { Claim, ClaimId } from "./Claim.ts"
import type { StoreUnavailable } from "../shared/StoreUnavailable.ts"

/** Refunds that were decided and are not paid yet, by debtor. */
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
    insert(claim: Claim): Effect.Effect<void, StoreUnavailable>
    /** Oldest first, at most `limit`; locked until the end of the unit of work. Undefined: the platform's. */
    lockOpen(debtor: ProviderId | undefined, limit: number): Effect.Effect<ReadonlyArray<Claim>, StoreUnavailable>
    setPaid(id: ClaimId, paid: Microcents): Effect.Effect<void, StoreUnavailable>
    /** Providers that owe something, by id, after `after`. */
    debtors(after: ProviderId | undefined, limit: number): Effect.Effect<ReadonlyArray<ProviderId>, StoreUnavailable>
    /** Newest first; `openOnly`: those that are not paid completely. */
    list(openOnly: boolean, page: PageRequest): Effect.Effect<Page<Claim>, StoreUnavailable>
    /** Oldest first. */
    ofSubjects(subjects: ReadonlyArray<string>): Effect.Effect<ReadonlyArray<Claim>, StoreUnavailable>
    /** The total that a provider owes. */
    owedBy(debtor: ProviderId): Effect.Effect<bigint, StoreUnavailable>
    /** The total that a consumer is owed. */
    owedTo(creditor: ConsumerId): Effect.Effect<bigint, StoreUnavailable>
    readonly totals: Effect.Effect<ClaimTotals, StoreUnavailable>
    /** Locked for readers of this figure until the end of the unit of work. */
    readonly lockAdvanced: Effect.Effect<bigint, StoreUnavailable>
  }
>()("agent-tool-billing/domain/earnings/ClaimStore") {}
