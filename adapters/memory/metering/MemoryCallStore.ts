/**
 * Calls on plain Maps: loads the input of `CallRules` and writes its decisions. Opening and closing are one step each,
 * so every guarantee of the port holds without a lock.
 */
import { type DateTime, Effect, Layer } from "effect"
import { availableIn, MARKET_OWNER } from "../../../domain/ledger/Transfer.ts"
import {
  countedFrom,
  decideClosing,
  decideOpening,
  decideResumption,
  decideSuspension,
  earlierOf,
  type KeyedCall,
  maySuspend,
  reserveIn
} from "../../../domain/metering/CallRules.ts"
import {
  CallStore,
  type CloseCall,
  type Closed,
  isFreeProxiedCall,
  isRetained,
  type OpenCall,
  type Opened,
  type ResumeCall,
  type Resumed,
  type SuspendCall,
  type Suspended
} from "../../../domain/metering/CallStore.ts"
import { type ConsumerId, type ProviderId, type ReceiptId, ToolId } from "../../../domain/shared/Ids.ts"
import { Microcents, zero } from "../../../domain/shared/Microcents.ts"
import { format } from "../../../domain/shared/Time.ts"
import {
  balanceRowOf,
  type BudgetRow,
  type ClosedCallRow,
  freeTierKey,
  keyOf,
  MemoryLedger,
  type OpenCallRow,
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
      suspend: (call) => Effect.sync(() => suspend(state, call)),
      mayWait: (consumerId, providerId, max) => Effect.sync(() => mayWait(state, consumerId, providerId, max)),
      resume: (call) => Effect.sync(() => resume(state, call)),
      extend: (consumerId, invocationId, deadlineAt) =>
        Effect.sync(() => extend(state, consumerId, invocationId, deadlineAt)),
      earlier: (consumerId, idempotency) =>
        Effect.sync(() => earlierOf(keyedCall(state, keyOf(consumerId, idempotency.keyHash)), idempotency.requestHash)),
      callFunds: (consumerId, toolId, now) =>
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
      outcome: (_, invocationId) =>
        Effect.sync(() => {
          if (state.openCalls.has(invocationId)) return { _tag: "Open" }
          const closed = state.closedCalls.get(invocationId)
          return closed === undefined ? { _tag: "Unknown" } : { _tag: "Closed", cost: closed.receipt.cost_microcents }
        }),
      overdue: (now, limit) =>
        Effect.sync(() =>
          [...state.openCalls.values()]
            .map(({ call }) => call)
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
      pruneRetained: (before, limit) =>
        Effect.sync(() => {
          let forgotten = 0
          for (const [key, { answer, ...row }] of state.answers) {
            if (forgotten === limit) break
            if (answer === undefined || !isRetained(answer) || answer.body === "") continue
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
  const { consumerId, idempotency, openedAt } = call
  const key = idempotency === undefined ? undefined : keyOf(consumerId, idempotency.keyHash)
  const tier = freeTierKey(consumerId, call.toolId, monthOf(openedAt))
  const used = state.freeCallsUsed.get(tier) ?? 0
  const wallet = walletOf(state, consumerId)
  const budgets = budgetsCovering(state, call)
  const { _tag, answer } = decideOpening(call, {
    keyed: key === undefined ? undefined : keyedCall(state, key),
    frozen: state.frozen.has(consumerId),
    availableMicrocents: availableIn(wallet),
    freeCallsUsed: used,
    budgets
  })
  if (_tag === "Reject") return answer
  const { free, freeCallsLeft, held } = answer
  const covering = held === zero ? [] : budgets
  const countedAt = countedFrom(covering, openedAt)
  for (const budget of covering) Object.assign(budget, reserveIn(budget, held, countedAt))
  const reserved = covering.map((budget) => ({ budget, periodStartMs: budget.periodStartMs }))
  wallet.held += held
  if (free) state.freeCallsUsed.set(tier, used + 1)
  if (key !== undefined) state.openKeys.set(key, call.invocationId)
  state.openCalls.set(call.invocationId, {
    call,
    held,
    free,
    budgets: reserved,
    freeCallsLeft,
    suspendedLeg: undefined
  })
  return answer
}

const close = (state: State, call: CloseCall): Closed => {
  const { answer, free: _, usesFreeCall: __, ...closing } = call
  const { consumerId, receipt } = closing
  const row = state.openCalls.get(receipt.receipt_id)
  const closedBefore = state.closedCalls.get(receipt.receipt_id)
  const wallet = walletOf(state, consumerId)
  const decided = decideClosing(call, {
    open: row === undefined ? undefined : { ...row.call, held: row.held, free: row.free },
    closedBy: closedBefore?.consumerId === consumerId ? closedBefore.receipt.signature : undefined
  })
  if (decided._tag === "Invalid") throw new Error(decided.reason)
  if (decided._tag === "ClosedBefore") {
    return decided.same
      ? { _tag: "Closed", now: false, availableMicrocents: availableIn(wallet) }
      : { _tag: "AlreadyClosed" }
  }
  const { budgets, call: opened, held } = row!
  const { cost, earned, fee, keepsKey, returnsFreeCall } = decided
  state.openCalls.delete(receipt.receipt_id)
  wallet.held -= held
  wallet.debits += cost
  if (earned > 0n) {
    const lot = balanceRowOf(state, "provider", receipt.provider_id, receipt.created_at.slice(0, 10))
    lot.credits += earned
    lot.earned += earned
  }
  if (fee > zero) balanceRowOf(state, "platform_fee", MARKET_OWNER).credits += fee
  for (const { budget, periodStartMs } of budgets) {
    if (budget.periodStartMs !== periodStartMs) continue
    budget.held -= held
    budget.spent += cost
  }
  if (returnsFreeCall) {
    const tier = freeTierKey(consumerId, receipt.tool_id, monthOf(opened.openedAt))
    state.freeCallsUsed.set(tier, state.freeCallsUsed.get(tier)! - 1)
  }
  keep(state, { ...closing, fee, isFreeCall: isFreeProxiedCall(call), levelId: opened.levels?.at(-1) })
  if (opened.idempotency !== undefined) {
    const { keyHash, requestHash } = opened.idempotency
    const key = keyOf(consumerId, keyHash)
    state.openKeys.delete(key)
    const keptAtMs = Date.parse(receipt.created_at)
    if (keepsKey) state.answers.set(key, { requestHash, invocationId: receipt.receipt_id, answer, keptAtMs })
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

const keyedCall = (state: State, key: string): KeyedCall | undefined => {
  const openId = state.openKeys.get(key)
  if (openId === undefined) return state.answers.get(key)
  const { requestHash } = state.openCalls.get(openId)!.call.idempotency!
  return { requestHash, invocationId: openId, answer: undefined }
}

const budgetsCovering = (state: State, call: OpenCall): ReadonlyArray<BudgetRow> => {
  const levels: ReadonlyArray<string | undefined> = [undefined, ...(call.levels ?? [])]
  return [...(state.budgets.get(call.consumerId)?.values() ?? [])]
    .filter(
      (budget) =>
        levels.includes(budget.levelId) &&
        (budget.toolId === undefined || budget.toolId === call.toolId) &&
        (budget.providerId === undefined || budget.providerId === call.providerId)
    )
    .toSorted((a, b) => levels.indexOf(a.levelId) - levels.indexOf(b.levelId) || (a.id < b.id ? -1 : 1))
}

const monthOf = (instant: DateTime.Utc): string => format(instant).slice(0, 7)

// Calls between two legs, on the Maps of `MemoryLedger`: each function is one step.

const suspend = (state: State, call: SuspendCall): Suspended => {
  const row = state.openCalls.get(call.invocationId)
  const counts = suspendedOf(state, call.consumerId, row?.call.providerId)
  const decided = decideSuspension(call, { open: factsOf(row), ...counts })
  if (decided === "suspended") setRow(state, row!, call.deadlineAt, call.leg)
  return decided
}

const mayWait = (state: State, consumerId: ConsumerId, providerId: ProviderId, max: number): boolean =>
  maySuspend(max, suspendedOf(state, consumerId, providerId))

const suspendedOf = (state: State, consumerId: ConsumerId, providerId: ProviderId | undefined) => {
  const suspended = [...state.openCalls.values()].filter(
    (open) => open.suspendedLeg !== undefined && open.call.consumerId === consumerId
  )
  const ofProvider = suspended.filter((open) => open.call.providerId === providerId).length
  return { suspended: suspended.length, ofProvider }
}

const resume = (state: State, call: ResumeCall): Resumed | undefined => {
  const row = state.openCalls.get(call.invocationId)
  const decided = decideResumption(call, { open: factsOf(row), frozen: state.frozen.has(call.consumerId) })
  if (decided === "no") return undefined
  if (decided === "frozen") return { _tag: "AccountFrozen" }
  const { free, freeCallsLeft, held } = row!
  setRow(state, row!, call.deadlineAt, undefined)
  const availableMicrocents = availableIn(walletOf(state, call.consumerId))
  return { _tag: "Opened", held: Microcents.make(held), free, freeCallsLeft, availableMicrocents }
}

const extend = (state: State, consumerId: ConsumerId, invocationId: ReceiptId, deadlineAt: DateTime.Utc): boolean => {
  const row = state.openCalls.get(invocationId)
  if (row?.call.consumerId !== consumerId) return false
  if (deadlineAt.epochMilliseconds > row.call.deadlineAt.epochMilliseconds) {
    setRow(state, row, deadlineAt, row.suspendedLeg)
  }
  return true
}

const factsOf = (row: OpenCallRow | undefined) =>
  row === undefined ? undefined : { consumerId: row.call.consumerId, suspendedLeg: row.suspendedLeg }

const setRow = (state: State, row: OpenCallRow, deadlineAt: DateTime.Utc, suspendedLeg: number | undefined): void => {
  state.openCalls.set(row.call.invocationId, { ...row, call: { ...row.call, deadlineAt }, suspendedLeg })
}
