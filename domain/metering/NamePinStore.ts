/**
 * Which tool a consumer means by a bare tool name: the one that it first called by that name with success. A pin never
 * changes.
 */
import { Context, type DateTime, type Effect } from "effect"
import type { ConsumerId, ToolId } from "../shared/Ids.ts"

export const PINS_PER_CONSUMER_MAX = 10_000

export interface NamePin {
  readonly consumerId: ConsumerId
  readonly toolName: string
  readonly toolId: ToolId
}

/** `Full`: the name is not pinned, and the consumer has as many pins as it may have. */
export type PinFound =
  | { readonly _tag: "Pinned"; readonly toolId: ToolId }
  | { readonly _tag: "Free" }
  | { readonly _tag: "Full" }

export class NamePinStore extends Context.Service<
  NamePinStore,
  {
    find(consumerId: ConsumerId, toolName: string, pinsMax: number): Effect.Effect<PinFound>
    /** Durable when it returns. The tool that the name is pinned to, by this pin or by an earlier one. */
    pin(pin: NamePin, at: DateTime.Utc): Effect.Effect<ToolId>
    /** Of an account that is erased. */
    removeAll(consumerId: ConsumerId): Effect.Effect<void>
  }
>()("agent-tool-billing/domain/metering/NamePinStore") {}
