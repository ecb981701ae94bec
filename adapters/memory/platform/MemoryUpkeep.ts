/**
 * Upkeep of the memory stores. They have no schema, and their health check always succeeds.
 */
import { Clock, Effect, Layer } from "effect"
import { BACKLOG_COUNTED_MAX, SchemaKeeper, StoreWatch } from "../../../domain/platform/Health.ts"
import { MemoryLedger } from "../ledger/MemoryLedger.ts"

const keeper = Layer.succeed(SchemaKeeper, {
  state: Effect.succeed({ version: 0, expected: 0 }),
  bringUpToDate: Effect.succeed({ applied: [], version: 0, tables: [] })
})

const watch = Layer.effect(
  StoreWatch,
  Effect.map(MemoryLedger, (ledger) => ({
    ping: Effect.undefined,
    connections: Effect.succeed([]),
    backlog: Effect.map(Clock.currentTimeMillis, (nowMs) => {
      const open = [...ledger.openCalls.values()]
      return {
        openCalls: open.length,
        overdueCalls: open.filter(({ call }) => call.deadlineAt.epochMilliseconds <= nowMs).length,
        heldMicrocents: open.reduce((sum, { held }) => sum + held, 0n),
        unloggedReceipts: Math.min(BACKLOG_COUNTED_MAX, ledger.unlogged.length),
        lostCalls: 0
      }
    })
  }))
)

export const layer = Layer.merge(keeper, watch)
