/**
 * The sweeper ends calls that were not settled.
 */
import { assert, it } from "@effect/vitest"
import { Context, DateTime, Effect, Exit, Layer, Logger } from "effect"
import { CallTally } from "../../../domain/metering/CallsInFlight.ts"
import { CallStore, type OverdueCall } from "../../../domain/metering/CallStore.ts"
import { Reservations } from "../../../domain/metering/Grants.ts"
import { Sweeper } from "../../../domain/metering/Sweeper.ts"
import { ReceiptSigner } from "../../../domain/receipts/Receipts.ts"
import { ConsumerId, ProviderId, ReceiptId, ToolId } from "../../../domain/shared/Ids.ts"
import { StoreUnavailable } from "../../../domain/shared/StoreUnavailable.ts"
import { receiptsSignedBy } from "../../support/checks/ReceiptVerdict.ts"

const call = (digit: number): OverdueCall => ({
  invocationId: ReceiptId.make(`rcpt_${String(digit).repeat(32)}`),
  consumerId: ConsumerId.make("01900000-0000-7000-8000-000000000001"),
  providerId: ProviderId.make("01900000-0000-7000-8000-000000000002"),
  toolId: ToolId.make("01900000-0000-7000-8000-000000000003"),
  toolName: "search_web",
  priceVersion: 1,
  feeBasisPoints: 1_000,
  origin: "proxy",
  openedAt: DateTime.makeUnsafe(0)
})
const overdue = [1, 2, 3, 4].map(call)
const stuck = new Set([overdue[0], overdue[2]].map((one) => one!.invocationId))

const sweeperOver = (calls: Layer.Layer<CallStore>, sweepOfReservations: Effect.Effect<number, StoreUnavailable>) => {
  const ports = Layer.mergeAll(
    calls,
    CallTally.layer,
    receiptsSignedBy(
      Layer.succeed(ReceiptSigner, { sign: () => Effect.succeed("0".repeat(64)), verify: () => Effect.succeed(true) })
    ),
    Layer.mock(Reservations, { sweep: sweepOfReservations })
  )
  return Effect.map(Layer.build(Sweeper.layer.pipe(Layer.provide(ports))), Context.get(Sweeper))
}

/** The outcome of a sweep over reservations, and what was logged. */
const swept = (sweepOfReservations: Effect.Effect<number, StoreUnavailable>) => {
  const ended: Array<string> = []
  const said: Array<string> = []
  const calls = Layer.mock(CallStore, {
    overdue: () => Effect.succeed(overdue),
    close: ({ receipt }) => {
      if (stuck.has(receipt.receipt_id)) return Effect.die(new Error("This row does not fit"))
      ended.push(receipt.receipt_id)
      return Effect.succeed({ _tag: "Closed", now: true, availableMicrocents: 0n })
    }
  })
  const listening = Logger.layer([
    Logger.make(({ logLevel, message }) => {
      if (logLevel === "Error") said.push(String(message))
    })
  ])
  return Effect.gen(function* () {
    const exit = yield* Effect.exit((yield* sweeperOver(calls, sweepOfReservations)).sweep)
    return { ended, exit, said }
  }).pipe(Effect.provide(listening))
}

it.effect("ends the other calls where it cannot end one, and fails at the end", () =>
  Effect.gen(function* () {
    let reservationsSwept = 0
    const { ended, exit, said } = yield* swept(Effect.sync(() => ++reservationsSwept))
    assert.isTrue(Exit.hasDies(exit))
    assert.deepStrictEqual(ended, [overdue[1]!.invocationId, overdue[3]!.invocationId])
    assert.strictEqual(reservationsSwept, 1)
    assert.match(said.join(), /Overdue calls that could not be ended: 2/u)
  })
)

it.effect("fails with both causes where neither calls nor reservations can be ended", () =>
  Effect.gen(function* () {
    const { exit } = yield* swept(Effect.suspend(() => new StoreUnavailable({ reason: "busy", cause: undefined })))
    assert.isTrue(Exit.hasDies(exit) && Exit.hasFails(exit))
  })
)

it.effect("leaves one round after an outage to the settlements that are tried again", () =>
  Effect.gen(function* () {
    let isAway = true
    const calls = Layer.mock(CallStore, {
      overdue: () =>
        Effect.suspend(() =>
          isAway ? new StoreUnavailable({ reason: "unreachable", cause: undefined }) : Effect.succeed(overdue)
        ),
      close: () => Effect.succeed({ _tag: "Closed", now: true, availableMicrocents: 0n })
    })
    const { sweep } = yield* sweeperOver(calls, Effect.succeed(0))
    assert.strictEqual((yield* Effect.flip(sweep))._tag, "StoreUnavailable")
    isAway = false
    assert.strictEqual(yield* sweep, 0)
    assert.strictEqual(yield* sweep, overdue.length)
  })
)
