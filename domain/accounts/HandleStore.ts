/**
 * Port to handles, past and present. Rows are never removed, so no handle is given to a second provider.
 */
import { Context, type DateTime, type Effect, type Option } from "effect"
import type { ProviderId } from "../shared/Ids.ts"
import type { StoreUnavailable } from "../shared/StoreUnavailable.ts"

/** A provider takes a handle. Handles whose skeletons are equal look alike, so only one provider may have them. */
export interface HandleClaim {
  readonly handle: string
  /** From `Handle.skeletonOf`. */
  readonly skeleton: string
  readonly providerId: ProviderId
  readonly at: DateTime.Utc
}

/** A handle that looks like the handle of another, verified provider. */
export interface Imitation {
  readonly handle: string
  readonly providerId: ProviderId
  readonly imitates: string
  readonly imitatedProviderId: ProviderId
}

export class HandleStore extends Context.Service<
  HandleStore,
  {
    /** False if it belongs, or belonged, to another provider. A retired handle resolves again. */
    claim(claim: HandleClaim): Effect.Effect<boolean, StoreUnavailable>
    /** The provider of each, also if it is retired; not of one that was never given, or whose account is erased. */
    ownersOf(handles: ReadonlyArray<string>): Effect.Effect<ReadonlyMap<string, ProviderId>, StoreUnavailable>
    /** Its provider, by a current or a former handle, but not by a retired one. */
    resolve(handle: string): Effect.Effect<Option.Option<ProviderId>, StoreUnavailable>
    /** It no longer resolves. */
    retire(handle: string): Effect.Effect<void, StoreUnavailable>
    /** A handle with this skeleton of another, verified provider. */
    imitated(skeleton: string, except: ProviderId): Effect.Effect<Option.Option<string>, StoreUnavailable>
    /** Current handles that look like a verified provider's, at most `limit`, by name. */
    imitations(limit: number): Effect.Effect<ReadonlyArray<Imitation>, StoreUnavailable>
    /** Whether another provider has a tool whose name begins with `handle/`. */
    beginsToolName(handle: string, except: ProviderId): Effect.Effect<boolean, StoreUnavailable>
    /** The handles are replaced by hashes: they do not resolve, and no other provider gets them. */
    erase(providerId: ProviderId): Effect.Effect<void, StoreUnavailable>
  }
>()("agent-tool-billing/domain/accounts/HandleStore") {}
