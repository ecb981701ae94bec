/**
 * Frozen accounts in memory, where the calls are opened.
 */
import { Effect, Layer, Option } from "effect"
import { FreezeStore } from "../../../domain/payments/AccountFreezes.ts"
import { MemoryLedger } from "../ledger/MemoryLedger.ts"
import { put, remove } from "../shared/MemoryUnitOfWork.ts"

export const layer = Layer.effect(
  FreezeStore,
  Effect.map(MemoryLedger, ({ frozen }) =>
    FreezeStore.of({
      freeze: (consumerId, freeze) =>
        Effect.suspend(() => {
          const current = frozen.get(consumerId)
          if (current?.byOperator === true && !freeze.byOperator) return Effect.void
          return put(frozen, consumerId, { ...freeze, at: current?.at ?? freeze.at })
        }),
      unfreeze: (consumerId) =>
        Effect.suspend(() =>
          frozen.has(consumerId) ? Effect.as(remove(frozen, consumerId), true) : Effect.succeed(false)
        ),
      find: (consumerId) => Effect.sync(() => Option.fromNullishOr(frozen.get(consumerId))),
      findAll: (ids) => Effect.sync(() => new Map([...frozen].filter(([id]) => ids.includes(id)))),
      frozen: (after, limit) =>
        Effect.sync(() =>
          [...frozen.keys()]
            .filter((id) => after === undefined || id > after)
            .toSorted()
            .slice(0, limit)
        )
    })
  )
)
