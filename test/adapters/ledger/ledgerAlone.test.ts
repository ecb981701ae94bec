/**
 * The rule of the call (`domain/metering/CallRules.ts`), which the memory store executes, is the oracle for the functions
 * of the database. Three stores get the same story with the same ids: the memory store, and two databases, one call by
 * call and one in batches. Every answer must be the same in all three, and every row in both databases.
 */
import { assert, it } from "@effect/vitest"
import { Context, DateTime, Effect, Exit, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { type Budget, BudgetId, BudgetStore } from "../../../domain/ledger/Budgets.ts"
import { Ledger } from "../../../domain/ledger/Ledger.ts"
import {
  CallStore,
  type CloseCall,
  type Closed,
  type OpenCall,
  type Opened
} from "../../../domain/metering/CallStore.ts"
import type { StoreUnavailable } from "../../../domain/shared/StoreUnavailable.ts"
import { type LedgerPorts, memoryLedgerPorts, postgresLedgerPorts } from "../../contracts/ledgerPorts.ts"
import {
  aCall,
  aConsumerId,
  aLevelId,
  aProviderId,
  aToolId,
  closingOf,
  money,
  OPENED_AT
} from "../../contracts/ledgerSamples.ts"
import { rowsOf } from "../../support/checks/LedgerRows.ts"

const RUNS = 40
/** Rich, poor, without a wallet, and with a budget. */
const LOADS = [40_000, 3_500, 0, 20_000] as const
/** At a price, with two free calls, free, and so cheap that there is no fee. */
const PRICES = [1_000, 700, 0, 4] as const
const FREE_CALLS = [0, 2, 0, 0] as const
/** Of the platform, in basis points. */
const FEES = [1_000, 0, 333, 5_000] as const

/** Of the caller's key: levels from the top, by their places in `people`. */
const PATHS = [[], [0], [0, 1], [0, 1, 2], [0, 3]] as const
/** Each level has budgets of its own, which are met often. */
const LIMITS: ReadonlyArray<Readonly<Partial<Record<Budget["period"], number>>>> = [
  { day: 9_000, total: 40_000 },
  { hour: 3_000, week: 5_000 },
  { total: 2_500 },
  { month: 4_000, hour: 0 }
]
const HOUR_MS = 3_600_000
/** Of the time of the call: also into the next periods, and by a node whose clock is behind. */
const LATER_MS = [0, 0, 0, HOUR_MS, 24 * HOUR_MS, 8 * 24 * HOUR_MS, 40 * 24 * HOUR_MS, -HOUR_MS] as const

const index = (count: number) => Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: count - 1 }))

const Opening = Schema.Struct({
  consumer: index(LOADS.length),
  tool: index(PRICES.length),
  key: Schema.NullOr(index(4)),
  request: Schema.Literals([0, 0, 0, 1]),
  path: index(PATHS.length),
  later: index(LATER_MS.length),
  fee: index(FEES.length)
})

/** `call` counts from the newest: the open calls, or all that were ever asked for. */
const Closing = Schema.Struct({
  of: Schema.Literals(["open", "open", "open", "open", "open", "all"]),
  call: index(6),
  status: Schema.Literals(["success", "success", "error", "timeout"]),
  share: Schema.Literals([100, 100, 100, 37, 37, 0, 101]),
  usesFreeCall: Schema.NullOr(Schema.Boolean),
  answered: Schema.Boolean,
  /** If there is a receipt already: the same again. */
  repeated: Schema.Boolean,
  /** In the name of another consumer. */
  misnamed: Schema.Literals([false, false, false, false, false, true]),
  /** With another fee than was recorded. */
  feeChanged: Schema.Literals([false, false, false, false, false, true])
})
type Closing = typeof Closing.Type

const Round = Schema.Struct({
  closings: Schema.Array(Closing).check(Schema.isMaxLength(5)),
  openings: Schema.Array(Opening).check(Schema.isMinLength(1), Schema.isMaxLength(6))
})

const Story = Schema.Array(Round).check(Schema.isMinLength(8), Schema.isMaxLength(12))

/** What a database is told at once. */
interface Steps {
  readonly closings: ReadonlyArray<CloseCall>
  readonly openings: ReadonlyArray<OpenCall>
}

const [RICH, POOR, BUDGETED] = [0, 2, 3]
/** Budgets of its own would be met before those of its levels. */
const LEVELED = RICH

class Databases extends Context.Service<
  Databases,
  Readonly<Record<"alone" | "batched", Context.Context<LedgerPorts | SqlClient.SqlClient>>> & {
    readonly memory: Context.Context<LedgerPorts>
  }
>()("agent-tool-billing/test/adapters/Databases") {
  static readonly layer = Layer.effect(
    Databases,
    Effect.all({
      alone: Layer.build(Layer.fresh(postgresLedgerPorts)),
      batched: Layer.build(Layer.fresh(postgresLedgerPorts)),
      memory: Layer.build(Layer.fresh(memoryLedgerPorts))
    })
  )
}

const people = Effect.all({
  consumers: Effect.replicateEffect(aConsumerId, LOADS.length),
  providers: Effect.replicateEffect(aProviderId, 2),
  tools: Effect.replicateEffect(aToolId, PRICES.length),
  levels: Effect.replicateEffect(aLevelId, LIMITS.length)
})
type People = Effect.Success<typeof people>

const equipped = Effect.fnUntraced(function* ({ consumers, levels, providers }: People) {
  const ledger = yield* Ledger
  const { replace } = yield* BudgetStore
  for (const [n, load] of LOADS.entries()) {
    const consumerId = consumers[n]!
    if (load > 0) yield* ledger.load({ consumerId, amount: money(load), reference: `load of ${consumerId}` })
  }
  for (const [place, limits] of LIMITS.entries()) {
    const of = { consumerId: consumers[LEVELED]!, levelId: levels[place]!, toolId: undefined, providerId: undefined }
    const budgets = Object.entries(limits).map(([period, cap], n) => ({
      ...of,
      id: BudgetId.make(`00000000-0000-4000-8000-0000000001${place}${n}`),
      cap: money(cap),
      period: period as Budget["period"],
      createdAt: OPENED_AT
    }))
    yield* replace(of.consumerId, of.levelId, budgets)
  }
  yield* (yield* BudgetStore).create(
    {
      id: BudgetId.make("00000000-0000-4000-8000-000000000001"),
      consumerId: consumers[3]!,
      levelId: undefined,
      toolId: undefined,
      providerId: providers[0],
      cap: money(1_500),
      period: "day",
      createdAt: OPENED_AT
    },
    20
  )
})

const answersTo = Effect.fnUntraced(function* ({ closings, openings }: Steps, concurrency: 1 | "unbounded") {
  const calls = yield* CallStore
  const steps: ReadonlyArray<Effect.Effect<Closed | Opened, StoreUnavailable>> = [
    ...closings.map(calls.close),
    ...openings.map(calls.open)
  ]
  return yield* Effect.forEach(
    steps,
    (step) => Effect.map(Effect.exit(step), (exit) => (Exit.isSuccess(exit) ? exit.value : "died")),
    { concurrency }
  )
})

const closing = (call: OpenCall, { answered, share, status, usesFreeCall }: Closing) =>
  closingOf(call, {
    status,
    cost: status === "success" ? (call.holdAmount * BigInt(share)) / 100n : 0n,
    ...(answered && { answer: { status: 200, headers: { "x-share": `${share}` }, body: `{"ok":"é"}` } }),
    ...(usesFreeCall !== null && { usesFreeCall })
  })

/** One step after the other; says what the steps were, with ids and receipts. */
const lived = Effect.fnUntraced(function* (story: typeof Story.Type, { consumers, levels, providers, tools }: People) {
  const asked: Array<OpenCall> = []
  const open = new Set<OpenCall>()
  const receipts = new Map<OpenCall, CloseCall>()
  const rounds: Array<Steps> = []
  const answers = yield* Effect.forEach(story, (round) =>
    Effect.gen(function* () {
      const closed = new Map<OpenCall, CloseCall>()
      for (const step of round.closings) {
        const call = (step.of === "all" ? asked : [...open].toReversed())[step.call]
        if (call === undefined || closed.has(call)) continue
        const earlier = step.repeated ? receipts.get(call) : undefined
        const fresh = earlier ?? (yield* closing(call, step))
        const asHeld = step.misnamed ? { ...fresh, consumerId: consumers[0]! } : fresh
        closed.set(call, step.feeChanged ? { ...asHeld, feeBasisPoints: fresh.feeBasisPoints + 1 } : asHeld)
      }
      const openings = yield* Effect.forEach(round.openings, ({ consumer, fee, key, later, path, request, tool }) =>
        aCall(consumers[consumer]!, {
          levels: PATHS[path]!.map((place) => levels[place]!),
          openedAt: DateTime.add(OPENED_AT, { milliseconds: LATER_MS[later]! }),
          toolId: tools[tool]!,
          providerId: providers[tool % 2]!,
          holdAmount: money(PRICES[tool]!),
          feeBasisPoints: FEES[fee]!,
          freeTierCalls: FREE_CALLS[tool]!,
          idempotency:
            key === null ? undefined : { keyHash: `0${key}`.repeat(32), requestHash: `0${request}`.repeat(32) }
        })
      )
      // In the order in which a batch takes them.
      const inOrder = [...closed].toSorted(([a], [b]) => (a.invocationId < b.invocationId ? -1 : 1))
      const steps = { closings: inOrder.map(([, closing]) => closing), openings }
      rounds.push(steps)
      const answers = yield* answersTo(steps, 1)
      for (const [n, [call, closing]] of inOrder.entries()) {
        if (answers[n] === "died") continue
        open.delete(call)
        if (!receipts.has(call)) receipts.set(call, closing)
      }
      for (const [n, call] of openings.entries()) {
        const answer = answers[inOrder.length + n]
        if (typeof answer === "object" && answer._tag === "Opened") open.add(call)
      }
      asked.unshift(...openings)
      return answers
    })
  )
  return { answers, rounds }
})

/** Runs the story in all three stores; returns the answers to its steps. */
const livedTwice = Effect.fnUntraced(function* (story: typeof Story.Type) {
  const { alone, batched, memory } = yield* Databases
  const everybody = yield* people.pipe(Effect.provide(alone))
  const rows = rowsOf(everybody.consumers, everybody.providers)

  yield* equipped(everybody).pipe(Effect.provide(alone))
  const one = yield* lived(story, everybody).pipe(Effect.provide(alone))
  yield* equipped(everybody).pipe(Effect.provide(batched))
  const many = yield* Effect.forEach(one.rounds, (steps) => answersTo(steps, "unbounded")).pipe(Effect.provide(batched))

  yield* equipped(everybody).pipe(Effect.provide(memory))
  const ruled = yield* Effect.forEach(one.rounds, (steps) => answersTo(steps, 1)).pipe(Effect.provide(memory))

  assert.deepStrictEqual(one.answers, ruled)
  assert.deepStrictEqual(many, ruled)
  assert.deepStrictEqual(yield* rows.pipe(Effect.provide(batched)), yield* rows.pipe(Effect.provide(alone)))
  const counted = Effect.forEach(LATER_MS, (milliseconds) =>
    Effect.flatMap(BudgetStore, ({ ofLevels }) =>
      ofLevels(everybody.consumers[LEVELED]!, everybody.levels, DateTime.add(OPENED_AT, { milliseconds }))
    )
  )
  assert.deepStrictEqual(yield* counted.pipe(Effect.provide(alone)), yield* counted.pipe(Effect.provide(memory)))
  return one.answers.flat().map((answer) => (typeof answer === "string" ? answer : answer._tag))
})

const anOpening = (consumer: number, key: number | null = null, request: 0 | 1 = 0) => ({
  consumer,
  tool: 0,
  path: 0,
  later: 0,
  key,
  request,
  fee: 0
})

const aClosing = (call: number, changes: Partial<Closing> = {}): Closing => ({
  of: "open",
  call,
  status: "success",
  share: 100,
  usesFreeCall: null,
  answered: true,
  repeated: false,
  misnamed: false,
  feeChanged: false,
  ...changes
})

/** Meets every answer that a call store gives. */
const EVERY_ANSWER: typeof Story.Type = [
  // Opened, InsufficientFunds, Opened
  { closings: [], openings: [anOpening(RICH, 0), anOpening(POOR), anOpening(BUDGETED)] },
  // BudgetExceeded, InFlight, IdempotencyConflict
  { closings: [], openings: [anOpening(BUDGETED), anOpening(RICH, 0), anOpening(RICH, 0, 1)] },
  // Closed, Replay
  { closings: [aClosing(1)], openings: [anOpening(RICH, 0)] },
  // AlreadyClosed; died, because more is charged than was held; Opened
  { closings: [aClosing(4, { of: "all" }), aClosing(0, { share: 101 })], openings: [anOpening(RICH)] },
  // died, because the fee is not the recorded one; Opened
  { closings: [aClosing(0, { feeChanged: true })], openings: [anOpening(RICH)] }
]

it.layer(Databases.layer, { timeout: "120 seconds", excludeTestServices: true })("Calls in PostgreSQL", (it) => {
  it.effect("gets every answer that the rule gives, alone and in a batch", () =>
    Effect.gen(function* () {
      assert.sameMembers(yield* livedTwice(EVERY_ANSWER), [
        "Opened",
        "InsufficientFunds",
        "Opened",
        "BudgetExceeded",
        "InFlight",
        "IdempotencyConflict",
        "Closed",
        "Replay",
        "AlreadyClosed",
        "died",
        "Opened",
        "died",
        "Opened"
      ])
    })
  )

  it.effect.prop(
    "answers any story as the rule does, alone and in batches, and writes the same rows",
    [Story],
    ([story]) => Effect.asVoid(livedTwice(story)),
    { arbitrary: { runs: RUNS }, timeout: 240_000 }
  )

  it.effect("used one transaction per call there and batches here", () =>
    Effect.gen(function* () {
      const { alone, batched } = yield* Databases
      const journeys = Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const [row] = yield* sql<{ readonly receipts: bigint; readonly transactions: bigint }>`
          SELECT count(*) AS receipts, count(DISTINCT tableoid::text || ' ' || xmin::text) AS transactions FROM receipts`
        return { receipts: Number(row!.receipts), transactions: Number(row!.transactions) }
      })
      const one = yield* journeys.pipe(Effect.provide(alone))
      const many = yield* journeys.pipe(Effect.provide(batched))
      assert.isAbove(one.receipts, 200)
      assert.strictEqual(one.transactions, one.receipts)
      assert.strictEqual(many.receipts, one.receipts)
      // How many share one depends on the rounds; alone, none would.
      assert.isBelow(many.transactions, one.transactions * 0.9)
    })
  )
})
