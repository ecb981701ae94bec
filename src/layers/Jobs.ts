/**
 * Background jobs of a node. Every round is safe on any number of nodes at once. A round that fails or takes too long
 * is logged, and the next one runs as usual. While the node's clock is wrong no round starts.
 */
import { Cause, DateTime, Duration, Effect, Layer, Schedule, Schema } from "effect"
import { OperatorSessionStore } from "../../domain/accounts/Authentication.ts"
import { Catalog } from "../../domain/catalog/Catalog.ts"
import { ToolSync } from "../../domain/catalog/ToolImport.ts"
import { Claims } from "../../domain/earnings/Claims.ts"
import { isAutomaticPayoutDay, Payouts } from "../../domain/earnings/Payouts.ts"
import { SolvencyWatch } from "../../domain/earnings/SolvencyWatch.ts"
import { Invoicing } from "../../domain/invoices/Invoicing.ts"
import { logRest, Sequencer, SEQUENCER_BATCH_MAX } from "../../domain/log/Sequencer.ts"
import { McpSessionStore, McpStreamStore } from "../../domain/mcp/McpStores.ts"
import { STREAM_KEPT } from "../../domain/mcp/McpStreams.ts"
import { CallStore, RETAINED_RESULT_MS_MAX } from "../../domain/metering/CallStore.ts"
import { MeterKeyStore } from "../../domain/metering/DirectMetering.ts"
import { UNFIT_DAYS_KEPT, UnfitOutputs } from "../../domain/metering/Settlement.ts"
import { Sweeper } from "../../domain/metering/Sweeper.ts"
import { Usage } from "../../domain/metering/Usage.ts"
import { sessionTimes } from "../../domain/operator/OperatorSessions.ts"
import { AccountFreezes } from "../../domain/payments/AccountFreezes.ts"
import { LoadStore } from "../../domain/payments/Loads.ts"
import { ProcessorFees } from "../../domain/payments/ProcessorFees.ts"
import { RECONCILED_EVERY, Reconciler } from "../../domain/payments/Reconciler.ts"
import { Withdrawals } from "../../domain/payments/Withdrawals.ts"
import { Heartbeats, type Probe } from "../../domain/platform/Health.ts"
import { HealthHistory } from "../../domain/platform/HealthHistory.ts"
import { PAYMENT_EVENT_DAYS_KEPT } from "../../domain/processor/PaymentEvents.ts"
import { giveUpAfter } from "../../domain/shared/Deadlines.ts"
import { IDEMPOTENCY_DAYS_KEPT, IdempotencyStore } from "../../domain/shared/Idempotency.ts"
import { rootMessage, type StoreUnavailable } from "../../domain/shared/StoreUnavailable.ts"
import { traced, TraceSampler } from "../../domain/shared/Telemetry.ts"
import { CorrectedClock, monotonicNowMs } from "../../domain/shared/Time.ts"
import { Tasks } from "../../domain/tasks/Tasks.ts"
import { VerificationStore } from "../../domain/trust/Challenge.ts"
import { Disputes } from "../../domain/trust/Disputes.ts"
import { ProviderTrust } from "../../domain/trust/ProviderTrust.ts"
import { MAILED_DAYS_KEPT, Verification } from "../../domain/trust/Verification.ts"

/** Limits how often a frequent job logs its failure. */
const PAUSE_AFTER_FAILURE = Duration.seconds(5)
/** A service that is starting up responds slowly, which is not a fault. */
const FIRST_HEALTH_AFTER = Duration.seconds(3)
const PRUNED_AT_ONCE_MAX = 10_000
/** Ten million rows per table and hour: more than a thousand calls a second produce. */
const PRUNE_ROUNDS_MAX = 1_000
const PRUNE_PAUSE = Duration.seconds(1)

/** A longer round hangs, for example on a connection whose peer has vanished. */
const ROUND_LIMIT = Duration.minutes(2)
/** One batch of the log takes a second or two. */
const SEQUENCE_LIMIT = Duration.seconds(20)
/** Rounds that ask other services about many items, or read a large part of the ledger. */
const LONG_ROUND_LIMIT = Duration.minutes(10)

const LOG_INTERVAL = Duration.millis(200)

interface Job {
  readonly name: string
  readonly interval: Duration.Duration
  /** Waits until there may be work again, in addition to the interval. */
  readonly rest?: Effect.Effect<void>
  readonly limit?: Duration.Duration
  readonly after?: Duration.Duration
}

const every = Effect.fnUntraced(function* <E>(
  { after = Duration.zero, interval, limit = ROUND_LIMIT, name, rest = Effect.void }: Job,
  round: Effect.Effect<unknown, E>
) {
  const { beat, failed } = yield* Heartbeats
  const sampler = yield* TraceSampler
  const clock = yield* CorrectedClock
  const sampled = Effect.suspend(() => (sampler.takes(false) ? traced(round, `job ${name}`) : round))
  const runAndBeat = Effect.gen(function* () {
    const startedMs = yield* monotonicNowMs
    yield* within(limit)(sampled)
    yield* beat(name, interval, (yield* monotonicNowMs) - startedMs)
  })
  yield* beat(name, interval)
  // A waiting job counts as late after a while, and the health check `clock` states why.
  yield* Effect.suspend(() => (clock?.jobsWaitFor() === undefined ? runAndBeat : Effect.void)).pipe(
    Effect.catchCause((cause) =>
      Effect.logWarning(`The job ${name} failed; it runs again`, cause).pipe(
        Effect.andThen(failed(name, rootMessage(Cause.squash(cause)))),
        Effect.andThen(Effect.sleep(PAUSE_AFTER_FAILURE))
      )
    ),
    Effect.andThen(Effect.sleep(interval)),
    Effect.andThen(rest),
    Effect.forever,
    Effect.delay(after),
    Effect.forkScoped
  )
})

class TooLong extends Schema.TaggedError<TooLong>()("TooLong", { seconds: Schema.Number }) {
  override get message() {
    return `It did not end within ${this.seconds} s`
  }
}

const within =
  (limit: Duration.Duration) =>
  <A, E>(effect: Effect.Effect<A, E>) =>
    effect.pipe(
      giveUpAfter(limit),
      Effect.catchIf(Cause.isTimeoutError, () => new TooLong({ seconds: Duration.toSeconds(limit) }))
    )

/** Removes much after a long downtime: in batches, with pauses for calls. */
const repeatUntilDrained = (round: Effect.Effect<number, StoreUnavailable>) =>
  Effect.repeat(within(ROUND_LIMIT)(round), {
    until: (count) => count < PRUNED_AT_ONCE_MAX,
    schedule: Schedule.spaced(PRUNE_PAUSE).pipe(Schedule.upTo({ times: PRUNE_ROUNDS_MAX }))
  })

/** A service that imports tools has these jobs. */
export const importJobs = Layer.effectDiscard(
  Effect.gen(function* () {
    yield* every({ name: "tool sync", interval: Duration.minutes(1), limit: LONG_ROUND_LIMIT }, (yield* ToolSync).work)
  })
)

/** A service whose doors speak MCP has these jobs. */
export const taskJobs = Layer.effectDiscard(
  Effect.gen(function* () {
    const tasks = yield* Tasks
    yield* every({ name: "tasks", interval: Duration.seconds(1) }, tasks.work)
    yield* every(
      { name: "prune of tasks", interval: Duration.hours(1), limit: Duration.hours(1) },
      repeatUntilDrained(tasks.prune(PRUNED_AT_ONCE_MAX))
    )
  })
)

/** `probes` check the node's adapters, in addition to the core's own parts. */
export const runJobs = Effect.fnUntraced(function* (probes: ReadonlyArray<Probe>) {
  const idempotency = yield* IdempotencyStore
  const calls = yield* CallStore
  const meterKeys = yield* MeterKeyStore
  const mcpSessions = yield* McpSessionStore
  const mcpStreams = yield* McpStreamStore
  const unfit = yield* UnfitOutputs
  const loads = yield* LoadStore
  const payouts = yield* Payouts
  const trust = yield* ProviderTrust
  const proofs = yield* VerificationStore
  const history = yield* HealthHistory
  const operatorSessions = yield* OperatorSessionStore
  const usage = yield* Usage

  const prune = Effect.gen(function* () {
    const before = DateTime.subtract(yield* DateTime.now, { days: IDEMPOTENCY_DAYS_KEPT })
    yield* repeatUntilDrained(idempotency.prune(before, PRUNED_AT_ONCE_MAX))
    yield* repeatUntilDrained(calls.forget(before, PRUNED_AT_ONCE_MAX))
    const retainedBefore = DateTime.subtract(yield* DateTime.now, { milliseconds: RETAINED_RESULT_MS_MAX })
    yield* repeatUntilDrained(calls.pruneRetained(retainedBefore, PRUNED_AT_ONCE_MAX))
    yield* repeatUntilDrained(meterKeys.prune(before, PRUNED_AT_ONCE_MAX))
    const eventsBefore = DateTime.subtract(yield* DateTime.now, { days: PAYMENT_EVENT_DAYS_KEPT })
    yield* repeatUntilDrained(loads.forgetEvents(eventsBefore, PRUNED_AT_ONCE_MAX))
    const unfitBefore = DateTime.subtract(yield* DateTime.now, { days: UNFIT_DAYS_KEPT })
    yield* repeatUntilDrained(unfit.prune(unfitBefore, PRUNED_AT_ONCE_MAX))
    const mailedBefore = DateTime.subtract(yield* DateTime.now, { days: MAILED_DAYS_KEPT })
    yield* repeatUntilDrained(proofs.forgetMailed(mailedBefore, PRUNED_AT_ONCE_MAX))
    const now = yield* DateTime.now
    yield* repeatUntilDrained(mcpSessions.prune(now, PRUNED_AT_ONCE_MAX))
    yield* repeatUntilDrained(mcpStreams.prune(DateTime.subtractDuration(now, STREAM_KEPT), PRUNED_AT_ONCE_MAX))
    yield* repeatUntilDrained(operatorSessions.prune(sessionTimes(now), PRUNED_AT_ONCE_MAX))
    yield* history.prune
    yield* repeatUntilDrained(usage.rollUp)
    yield* repeatUntilDrained(trust.prune)
  })

  const automaticPayouts = Effect.gen(function* () {
    if (isAutomaticPayoutDay(yield* DateTime.now)) yield* payouts.payAutomatically
  })

  const { rest } = yield* logRest
  // Each batch has its own limit: a long backlog is not a hang.
  const batch = within(SEQUENCE_LIMIT)((yield* Sequencer).sequence)
  yield* every(
    { name: "log", interval: LOG_INTERVAL, limit: Duration.hours(1), rest },
    Effect.repeat(batch, { while: (taken) => taken >= SEQUENCER_BATCH_MAX })
  )
  yield* every({ name: "payouts", interval: Duration.seconds(5) }, payouts.work)
  yield* every({ name: "disputes", interval: Duration.seconds(5) }, (yield* Disputes).work)
  yield* every({ name: "claims", interval: Duration.seconds(5) }, (yield* Claims).work)
  yield* every(
    { name: "solvency", interval: Duration.minutes(1), limit: LONG_ROUND_LIMIT },
    (yield* SolvencyWatch).check
  )
  yield* every({ name: "standings", interval: Duration.seconds(30), limit: LONG_ROUND_LIMIT }, trust.refresh)
  yield* every(
    { name: "proofs", interval: Duration.minutes(10), limit: LONG_ROUND_LIMIT },
    (yield* Verification).recheck
  )
  yield* every({ name: "automatic payouts", interval: Duration.minutes(30), limit: LONG_ROUND_LIMIT }, automaticPayouts)
  yield* every(
    { name: "invoices", interval: Duration.minutes(10), limit: Duration.minutes(30) },
    Effect.catchTag((yield* Invoicing).closeLast, "MonthNotOver", () => Effect.void)
  )
  yield* every({ name: "withdrawals", interval: Duration.seconds(5) }, (yield* Withdrawals).work)
  yield* every(
    { name: "processor fees", interval: Duration.minutes(1), limit: LONG_ROUND_LIMIT },
    (yield* ProcessorFees).work
  )
  yield* every(
    { name: "account freezes", interval: Duration.minutes(1), limit: LONG_ROUND_LIMIT },
    (yield* AccountFreezes).reviewAll
  )
  yield* every({ name: "reconciler", interval: RECONCILED_EVERY }, (yield* Reconciler).reconcile)
  yield* every({ name: "usage", interval: Duration.seconds(5) }, usage.countWaiting)
  yield* every({ name: "prices", interval: Duration.seconds(5) }, (yield* Catalog).promote)
  yield* every({ name: "sweeper", interval: Duration.seconds(5) }, (yield* Sweeper).sweep)
  yield* every(
    { name: "health history", interval: Duration.minutes(1), after: FIRST_HEALTH_AFTER },
    history.sample(probes)
  )
  yield* every({ name: "prune", interval: Duration.hours(1), limit: Duration.hours(1) }, prune)
})

export const jobs = Layer.effectDiscard(runJobs([]))
