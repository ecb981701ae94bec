/**
 * A consumer's remaining free calls this month, for the tools that it has called.
 */
import { Context, DateTime, Effect, flow, Layer, Option } from "effect"
import { Catalog } from "../catalog/Catalog.ts"
import { type CatalogEntry, isOffered } from "../catalog/CatalogStore.ts"
import type { ConsumerId } from "../shared/Ids.ts"
import { CallStore } from "./CallStore.ts"
import type { StoreUnavailable } from "../shared/StoreUnavailable.ts"

/** A consumer's free calls of one tool in this calendar month (UTC). */
export interface FreeTier {
  readonly entry: CatalogEntry
  readonly used: number
  /** 0 where the tool's free tier was reduced below the calls already used. */
  readonly left: number
}

export const FREE_TIERS_SHOWN_MAX = 100

export class FreeTiers extends Context.Service<
  FreeTiers,
  {
    /** Most used first. */
    list(consumerId: ConsumerId): Effect.Effect<ReadonlyArray<FreeTier>, StoreUnavailable>
  }
>()("agent-tool-billing/domain/metering/FreeTiers") {
  static readonly layer = Layer.effect(
    FreeTiers,
    Effect.gen(function* () {
      const calls = yield* CallStore
      const catalog = yield* Catalog
      const list = Effect.fn("FreeTiers.list")(function* (consumerId: ConsumerId) {
        const used = yield* calls.freeCallsByTool(consumerId, yield* DateTime.now, FREE_TIERS_SHOWN_MAX)
        const found = yield* Effect.forEach(
          used,
          (one) =>
            Effect.map(
              catalog.find(one.toolId),
              flow(
                Option.filter(isOffered),
                Option.map((entry) => ({ entry, used: one.used, left: Math.max(0, entry.freeTierCalls - one.used) }))
              )
            ),
          { concurrency: 4 }
        )
        return found.flatMap(Option.toArray)
      })
      return FreeTiers.of({ list })
    })
  )
}
