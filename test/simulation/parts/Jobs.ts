/**
 * The background jobs of the service, one round at a time, when the plan says so.
 */
import { Cause, DateTime, Effect } from "effect"
import { Catalog } from "../../../domain/catalog/Catalog.ts"
import { Invoicing } from "../../../domain/invoices/Invoicing.ts"
import { Sequencer } from "../../../domain/log/Sequencer.ts"
import { CallStore } from "../../../domain/metering/CallStore.ts"
import { Sweeper } from "../../../domain/metering/Sweeper.ts"
import { AccountFreezes } from "../../../domain/payments/AccountFreezes.ts"
import { ProcessorFees } from "../../../domain/payments/ProcessorFees.ts"
import { Reconciler } from "../../../domain/payments/Reconciler.ts"
import { Withdrawals } from "../../../domain/payments/Withdrawals.ts"
import { Payouts } from "../../../domain/earnings/Payouts.ts"
import { IDEMPOTENCY_DAYS_KEPT } from "../../../domain/shared/Idempotency.ts"
import { Claims } from "../../../domain/earnings/Claims.ts"
import { Disputes } from "../../../domain/trust/Disputes.ts"
import { ProviderTrust } from "../../../domain/trust/ProviderTrust.ts"
import { wrong } from "../world/Asking.ts"
import type { Job } from "../world/Step.ts"
import { Violation } from "../books/Violation.ts"
import type { World } from "../world/World.ts"

export const work = Effect.fnUntraced(function* (world: World, job: Job) {
  const before = world.board.disturbancesBefore
  const exit = yield* Effect.exit(round(world, job))
  if (exit._tag === "Success") return String(exit.value)
  const error = Cause.squash(exit.cause)
  if (error instanceof Violation) return yield* error
  if (world.board.wasDisturbedSince(before)) return "failed"
  return yield* wrong("no failure by itself", `${job}: ${Cause.pretty(exit.cause)}`)
})

const round = Effect.fnUntraced(function* (world: World, job: Job) {
  switch (job) {
    case "sequence":
      return yield* sequence(world)
    case "sweep":
      return yield* world.service(Sweeper).sweep
    case "payouts":
      return yield* world.service(Payouts).work
    case "disputes":
      return yield* world.service(Disputes).work
    case "claims":
      return yield* world.service(Claims).work
    case "reconcile":
      return yield* world.service(Reconciler).reconcile
    case "standings":
      return yield* Effect.as(world.service(ProviderTrust).refresh, "refreshed")
    case "prices":
      return yield* world.service(Catalog).promote
    case "withdrawals":
      return yield* world.service(Withdrawals).work
    case "fees":
      return yield* world.service(ProcessorFees).work
    case "freezes":
      return yield* world.service(AccountFreezes).reviewAll
    case "automatic":
      return yield* world.service(Payouts).payAutomatically
    case "prune": {
      const before = DateTime.subtract(yield* DateTime.now, { days: IDEMPOTENCY_DAYS_KEPT })
      return yield* world.port(CallStore).forget(before, 10_000)
    }
    case "invoices":
      return yield* invoices(world)
  }
})

/** What was there before a round has its place after it. */
const sequence = Effect.fnUntraced(function* (world: World) {
  const waiting = [...world.facts.unplaced]
  const taken = yield* world.service(Sequencer).sequence
  for (const id of waiting) world.facts.due.add(id)
  return taken
})

const invoices = Effect.fnUntraced(function* (world: World) {
  const closed = yield* Effect.catchTag(world.service(Invoicing).closeLast, "MonthNotOver", () => Effect.succeedNone)
  if (closed._tag === "None") return "nothing"
  const { agrees, invoices, ledger, statements } = closed.value
  if (!agrees) return yield* wrong("invoices equal ledger", `${invoices}, ${statements}, ${ledger}`)
  return `closed over ${ledger}`
})
