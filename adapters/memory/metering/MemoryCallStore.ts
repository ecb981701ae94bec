/**
 * Calls on plain Maps. Opening and closing are one step each, so every guarantee of the port holds without a lock.
 */
import { type DateTime, Effect, Layer } from "effect"
import { availableIn, MARKET_OWNER } from "../../../domain/ledger/Account.ts"
import { resetsAt, startOfPeriod } from "../../../domain/ledger/BudgetPeriod.ts"
import {
  type CallIdempotency,
  CallStore,
  type CloseCall,
  type Closed,
  type Earlier,
  isFreeProxiedCall,
  type OpenCall,
  type Opened
} from "../../../domain/metering/CallStore.ts"
import { isLeft } from "../../../domain/metering/LeftAnswers.ts"
import { type ConsumerId, type ProviderId, ToolId } from "../../../domain/shared/Ids.ts"
import { Microcents, zero } from "../../../domain/shared/Microcents.ts"
import { format } from "../../../domain/shared/Timestamp.ts"
import {
  balanceRowOf,
  type BudgetRow,
  type ClosedCallRow,
  freeTierKey,
  keyOf,
  MemoryLedger,
  walletOf
} from "../ledger/MemoryLedger.ts"

type State = MemoryLedger["Service"]

export const layer = Layer.effect(
  CallStore,
  Effect.gen(function* () {
    const state = yield* MemoryLedger
    return CallStore.of({
      open: (call) => Effect.sync(() => open(state, call)),
      close: (call) => Effect.sync(() => close(state, call)),
      earlier: (consumerId, idempotency) => Effect.sync(() => earlierOf(state, consumerId, idempotency)),
      standing: (consumerId, toolId, now) =>
        Effect.sync(() => {
          const wallet = state.wallets.get(consumerId)
          return {
            availableMicrocents: wallet === undefined ? 0n : availableIn(wallet),
            freeCallsUsed: state.freeCallsUsed.get(freeTierKey(consumerId, toolId, monthOf(now))) ?? 0
          }
        }),
      freeCallsByTool: (consumerId, now, limit) =>
        Effect.sync(() =>
          [...state.freeCallsUsed]
            .map(([key, used]) => ({ parts: key.split(" "), used }))
            .filter(({ parts, used }) => parts[0] === consumerId && parts[2] === monthOf(now) && used > 0)
            .map(({ parts, used }) => ({ toolId: ToolId.make(parts[1]!), used }))
            .toSorted((a, b) => b.used - a.used || (a.toolId < b.toolId ? -1 : 1))
            .slice(0, limit)
        ),
      fate: (_, invocationId) =>
        Effect.sync(() => {
          if (state.openCalls.has(invocationId)) return { _tag: "Open" }
          const closed = state.closedCalls.get(invocationId)
          return closed === undefined ? { _tag: "Unknown" } : { _tag: "Closed", cost: closed.receipt.cost_microcents }
        }),
      overdue: (now, limit) =>
        Effect.sync(() =>
          [...state.openCalls.values()]
            .map((row) => row.call)
            .filter((call) => call.deadlineAt.epochMilliseconds <= now.epochMilliseconds)
            .toSorted((a, b) => a.deadlineAt.epochMilliseconds - b.deadlineAt.epochMilliseconds)
            .slice(0, limit)
        ),
      forget: (before, limit) =>
        Effect.sync(() => {
          let forgotten = 0
          for (const [key, row] of state.answers) {
            if (forgotten === limit) break
            if (row.keptAtMs < before.epochMilliseconds && state.answers.delete(key)) forgotten++
          }
          return forgotten
        }),
      forgetLeft: (before, limit) =>
        Effect.sync(() => {
          let forgotten = 0
          for (const [key, { answer, ...row }] of state.answers) {
            if (forgotten === limit) break
            if (answer === undefined || !isLeft(answer) || answer.body === "") continue
            if (row.keptAtMs >= before.epochMilliseconds) continue
            state.answers.set(key, { ...row, answer: { ...answer, body: "" } })
            forgotten++
          }
          return forgotten
        })
    })
  })
)

const open = (state: State, call: OpenCall): Opened => {
  const { idempotency } = call
  const key = idempotency === undefined ? undefined : keyOf(call.consumerId, idempotency.keyHash)
  const earlier = idempotency === undefined ? undefined : earlierOf(state, call.consumerId, idempotency)
  if (earlier !== undefined) return earlier
  if (state.frozen.has(call.consumerId)) return { _tag: "AccountFrozen" }

  const wallet = walletOf(state, call.consumerId)
  const tier = freeTierKey(call.consumerId, call.toolId, monthOf(call.openedAt))
  const used = state.freeCallsUsed.get(tier) ?? 0
  const free = used < call.freeTierCalls
  const held = free ? zero : call.holdAmount
  const covering = held === zero ? [] : budgetsCovering(state, call)
  if (held > zero) {
    const available = availableIn(wallet)
    if (available < held) return { _tag: "InsufficientFunds", availableMicrocents: available, neededMicrocents: held }
    for (const budget of covering) {
      const left = budget.cap - spentIn(budget, call.openedAt) - budget.held
      if (left < held) {
        return {
          _tag: "BudgetExceeded",
          budgetId: budget.id,
          capMicrocents: budget.cap,
          leftMicrocents: left > 0n ? left : 0n,
          resetsAt: resetsAt(budget.period, call.openedAt)
        }
      }
    }
  }

  for (const budget of covering) reserve(budget, held, call.openedAt)
  wallet.held += held
  if (free) state.freeCallsUsed.set(tier, used + 1)
  if (key !== undefined) state.openKeys.set(key, call.invocationId)
  state.openCalls.set(call.invocationId, { call, held, free, budgets: covering })
  return {
    _tag: "Opened",
    held: Microcents.make(held),
    free,
    freeCallsLeft: call.freeTierCalls === 0 ? undefined : Math.max(0, call.freeTierCalls - used - (free ? 1 : 0)),
    availableMicrocents: availableIn(wallet)
  }
}

const close = (state: State, call: CloseCall): Closed => {
  const { answer, free: _, usesFreeCall, ...closing } = call
  const { consumerId, receipt, fee } = closing
  const row = state.openCalls.get(receipt.receipt_id)
  const wallet = walletOf(state, consumerId)
  if (row === undefined) {
    const kept = state.closedCalls.get(receipt.receipt_id)
    if (kept === undefined) throw new Error(`${receipt.receipt_id} was never opened`)
    return kept.receipt.signature === receipt.signature
      ? { _tag: "Closed", now: false, availableMicrocents: availableIn(wallet) }
      : { _tag: "AlreadyClosed" }
  }
  const cost = receipt.cost_microcents
  if (row.call.consumerId !== consumerId || cost > row.held) {
    throw new Error(`${receipt.receipt_id} is another consumer's, or costs ${cost} of the ${row.held} held`)
  }

  state.openCalls.delete(receipt.receipt_id)
  wallet.held -= row.held
  wallet.debits += cost
  if (cost > fee) {
    const lot = balanceRowOf(state, "provider", receipt.provider_id, receipt.created_at.slice(0, 10))
    lot.credits += cost - fee
    lot.earned += cost - fee
  }
  if (fee > zero) balanceRowOf(state, "platform_fee", MARKET_OWNER).credits += fee
  for (const budget of row.budgets) {
    budget.held -= row.held
    budget.spent += cost
  }
  if (row.free && !(usesFreeCall ?? receipt.status === "success")) {
    const tier = freeTierKey(consumerId, receipt.tool_id, monthOf(row.call.openedAt))
    state.freeCallsUsed.set(tier, state.freeCallsUsed.get(tier)! - 1)
  }
  keep(state, { ...closing, isFreeCall: isFreeProxiedCall(call) })
  const { idempotency } = row.call
  if (idempotency !== undefined) {
    const key = keyOf(consumerId, idempotency.keyHash)
    state.openKeys.delete(key)
    if (answer !== undefined || cost > zero) {
      const keptAtMs = Date.parse(receipt.created_at)
      const { requestHash } = idempotency
      state.answers.set(key, { requestHash, invocationId: receipt.receipt_id, answer, keptAtMs })
    }
  }
  return { _tag: "Closed", now: true, availableMicrocents: availableIn(wallet) }
}

const keep = (state: State, closed: ClosedCallRow): void => {
  state.closedCalls.set(closed.receipt.receipt_id, closed)
  state.unlogged.push(closed)
  for (const owner of [closed.consumerId, closed.receipt.provider_id] satisfies ReadonlyArray<
    ConsumerId | ProviderId
  >) {
    const calls = state.closedCallsOf.get(owner)
    if (calls === undefined) state.closedCallsOf.set(owner, [closed])
    else calls.push(closed)
  }
}

const earlierOf = (state: State, consumerId: ConsumerId, idempotency: CallIdempotency): Earlier | undefined => {
  const earlier = earlierCall(state, keyOf(consumerId, idempotency.keyHash))
  if (earlier === undefined) return undefined
  if (earlier.requestHash !== idempotency.requestHash) return { _tag: "IdempotencyConflict" }
  return earlier.answer === undefined
    ? { _tag: "InFlight", invocationId: earlier.invocationId }
    : { _tag: "Replay", answer: earlier.answer }
}

const earlierCall = (state: State, key: string) => {
  const openId = state.openKeys.get(key)
  if (openId === undefined) return state.answers.get(key)
  const { requestHash } = state.openCalls.get(openId)!.call.idempotency!
  return { requestHash, invocationId: openId, answer: undefined }
}

const budgetsCovering = (state: State, call: OpenCall): ReadonlyArray<BudgetRow> =>
  [...(state.budgets.get(call.consumerId)?.values() ?? [])]
    .filter(
      (budget) =>
        (budget.toolId === undefined || budget.toolId === call.toolId) &&
        (budget.providerId === undefined || budget.providerId === call.providerId)
    )
    .toSorted((a, b) => (a.id < b.id ? -1 : 1))

/** Of an earlier period nothing counts any more. */
export const spentIn = (budget: BudgetRow, at: DateTime.Utc): bigint => {
  const start = startOfPeriod(budget.period, at)
  return start !== undefined && budget.periodStartMs < start.epochMilliseconds ? 0n : budget.spent
}

const reserve = (budget: BudgetRow, amount: bigint, at: DateTime.Utc): void => {
  const start = startOfPeriod(budget.period, at)
  budget.spent = spentIn(budget, at)
  if (start !== undefined) budget.periodStartMs = Math.max(budget.periodStartMs, start.epochMilliseconds)
  budget.held += amount
}

const monthOf = (instant: DateTime.Utc): string => format(instant).slice(0, 7)
