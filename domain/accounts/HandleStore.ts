/**
 * Which handles were ever given, and to whom. A row is never taken away, so no handle comes to a second provider.
 */
import { Context, type DateTime, type Effect, type Option } from "effect"
import type { ProviderId } from "../shared/Ids.ts"

export interface HandleClaim {
  readonly handle: string
  /** From `Handle.skeletonOf`. */
  readonly skeleton: string
  readonly providerId: ProviderId
  readonly at: DateTime.Utc
}

/** A handle that looks like the handle of another provider, who is verified. */
export interface Imitation {
  readonly handle: string
  readonly providerId: ProviderId
  readonly imitates: string
  readonly imitatedProviderId: ProviderId
}

export class HandleStore extends Context.Service<
  HandleStore,
  {
    /** False: it is, or was, another provider's. One that was retired resolves again. */
    claim(claim: HandleClaim): Effect.Effect<boolean>
    /** Whose it is or was, also where it is retired. None: it was never given, or its account is erased. */
    ownerOf(handle: string): Effect.Effect<Option.Option<ProviderId>>
    /** It resolves no more. */
    retire(handle: string): Effect.Effect<void>
    /** Of a verified provider other than this one, a handle with this skeleton. */
    imitated(skeleton: string, except: ProviderId): Effect.Effect<Option.Option<string>>
    /** Handles in use that look like a verified provider's, at most `limit`, by name. */
    imitations(limit: number): Effect.Effect<ReadonlyArray<Imitation>>
    /** Another provider has a tool whose name begins with `handle/`. */
    beginsToolName(handle: string, except: ProviderId): Effect.Effect<boolean>
    /** The words go and none of them resolves; they are still given to no other provider. */
    erase(providerId: ProviderId): Effect.Effect<void>
  }
>()("agent-tool-billing/domain/accounts/HandleStore") {}
