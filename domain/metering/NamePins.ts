/**
 * A pin fixes a bare tool name to one tool for an account, permanently: a provider that later lists a tool of the same name
 * gets none of its calls. A bounded cache of pins is in front of the store. Pins never change, so a cached pin is right on
 * every node. The absence of a pin is never cached, since another node may have made one.
 */
import { Context, DateTime, Effect, Layer, Schema } from "effect"
import { ChangeFeed, onEachChange } from "../shared/ChangeFeed.ts"
import type { ConsumerId, ToolId } from "../shared/Ids.ts"
import { type NamePin, NamePinStore, PINS_PER_CONSUMER_MAX } from "./NamePinStore.ts"
import type { StoreUnavailable } from "../shared/StoreUnavailable.ts"

export const PINS_CACHED_MAX = 50_000

/** Bare names are pinned per account, and the account has the maximum. Qualified names still work. */
export class TooManyPins extends Schema.TaggedError<TooManyPins>()("TooManyPins", {
  toolName: Schema.String,
  max: Schema.Int
}) {
  override get message() {
    return (
      `Your account has called ${this.max} different tool names, the most that an account can use without their ` +
      `providers. Send the qualified name \`handle/${this.toolName}\`, or \`tool_id\`. Nothing was charged.`
    )
  }
}

export class NamePins extends Context.Service<
  NamePins,
  {
    /** Undefined: not pinned. Reads the store unless the pin is cached. */
    find(consumerId: ConsumerId, toolName: string): Effect.Effect<ToolId | undefined, TooManyPins | StoreUnavailable>
    /** Reads the cache only. */
    cached(consumerId: ConsumerId, toolName: string): ToolId | undefined
    /**
     * Pins the name of a call that succeeded. Run it before the call is settled, so that no call is charged under a name
     * that could still change. Undefined where the pin is cached: a call with a pinned name costs no statement.
     */
    pinning(pin: NamePin): Effect.Effect<void, StoreUnavailable> | undefined
  }
>()("agent-tool-billing/domain/metering/NamePins") {
  static readonly layer = Layer.effect(
    NamePins,
    Effect.gen(function* () {
      const store = yield* NamePinStore
      const feed = yield* ChangeFeed
      const known = new Map<string, ToolId>()

      yield* onEachChange(feed, (change) => {
        // An account and its pins may have been erased.
        if (change.topic === "everything") known.clear()
      })

      const keep = (consumerId: ConsumerId, toolName: string, toolId: ToolId): void => {
        if (known.size >= PINS_CACHED_MAX) known.delete(known.keys().next().value!)
        known.set(keyOf(consumerId, toolName), toolId)
      }

      const cached = (consumerId: ConsumerId, toolName: string) => known.get(keyOf(consumerId, toolName))

      const find = Effect.fnUntraced(function* (consumerId: ConsumerId, toolName: string) {
        const found = yield* store.find(consumerId, toolName, PINS_PER_CONSUMER_MAX)
        if (found._tag === "Full") return yield* new TooManyPins({ toolName, max: PINS_PER_CONSUMER_MAX })
        if (found._tag === "Free") return undefined
        keep(consumerId, toolName, found.toolId)
        return found.toolId
      })

      const pin = Effect.fn("NamePins.pin")(function* (wanted: NamePin) {
        const toolId = yield* store.pin(wanted, yield* DateTime.now)
        keep(wanted.consumerId, wanted.toolName, toolId)
      })

      return NamePins.of({
        find: (consumerId, toolName) =>
          Effect.suspend(() => {
            const toolId = cached(consumerId, toolName)
            return toolId === undefined ? find(consumerId, toolName) : Effect.succeed(toolId)
          }),
        cached,
        pinning: (wanted) => (cached(wanted.consumerId, wanted.toolName) === undefined ? pin(wanted) : undefined)
      })
    })
  )
}

/** Ids contain no spaces. */
const keyOf = (consumerId: ConsumerId, toolName: string): string => `${consumerId} ${toolName}`
