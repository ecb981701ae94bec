/**
 * The tool that a bare tool name means for a consumer: the one that it first called successfully by that name. A pin never
 * changes.
 */
import { Context, type DateTime, type Effect } from "effect"
import type { ConsumerId, ToolId } from "../shared/Ids.ts"
import type { StoreUnavailable } from "../shared/StoreUnavailable.ts"

export const PINS_PER_CONSUMER_MAX = 10_000

/** The tool that a bare name means for an account since its first call by that name. */
export interface NamePin {
  readonly consumerId: ConsumerId
  readonly toolName: string
  readonly toolId: ToolId
}

/** `Full`: the name is not pinned, and the consumer has the maximum number of pins. */
export type PinFound =
  | { readonly _tag: "Pinned"; readonly toolId: ToolId }
  | { readonly _tag: "Free" }
  | { readonly _tag: "Full" }

export class NamePinStore extends Context.Service<
  NamePinStore,
  {
    find(consumerId: ConsumerId, toolName: string, pinsMax: number): Effect.Effect<PinFound, StoreUnavailable>
    /** Durable when it returns. Returns the tool that the name is pinned to, by this pin or by an earlier one. */
    pin(pin: NamePin, at: DateTime.Utc): Effect.Effect<ToolId, StoreUnavailable>
    /** When an account is erased. */
    removeAll(consumerId: ConsumerId): Effect.Effect<void, StoreUnavailable>
  }
>()("agent-tool-billing/domain/metering/NamePinStore") {}
