/**
 * Calls between two legs, on the Maps of `MemoryLedger`: each function is one step.
 */
import type { DateTime } from "effect"
import { availableIn } from "../../../domain/ledger/Transfer.ts"
import { decideResumption, decideSuspension, maySuspend } from "../../../domain/metering/CallRules.ts"
import type { ResumeCall, Resumed, SuspendCall, Suspended } from "../../../domain/metering/CallStore.ts"
import type { ConsumerId, ProviderId, ReceiptId } from "../../../domain/shared/Ids.ts"
import { Microcents } from "../../../domain/shared/Microcents.ts"
import { type MemoryLedger, type OpenCallRow, walletOf } from "../ledger/MemoryLedger.ts"

type State = MemoryLedger["Service"]

export const suspend = (state: State, call: SuspendCall): Suspended => {
  const row = state.openCalls.get(call.invocationId)
  const counts = suspendedOf(state, call.consumerId, row?.call.providerId)
  const decided = decideSuspension(call, { open: factsOf(row), ...counts })
  if (decided === "suspended") setRow(state, row!, call.deadlineAt, call.leg)
  return decided
}

export const mayWait = (state: State, consumerId: ConsumerId, providerId: ProviderId, max: number): boolean =>
  maySuspend(max, suspendedOf(state, consumerId, providerId))

const suspendedOf = (state: State, consumerId: ConsumerId, providerId: ProviderId | undefined) => {
  const suspended = [...state.openCalls.values()].filter(
    (open) => open.suspendedLeg !== undefined && open.call.consumerId === consumerId
  )
  const ofProvider = suspended.filter((open) => open.call.providerId === providerId).length
  return { suspended: suspended.length, ofProvider }
}

export const resume = (state: State, call: ResumeCall): Resumed | undefined => {
  const row = state.openCalls.get(call.invocationId)
  const decided = decideResumption(call, { open: factsOf(row), frozen: state.frozen.has(call.consumerId) })
  if (decided === "no") return undefined
  if (decided === "frozen") return { _tag: "AccountFrozen" }
  const { free, freeCallsLeft, held } = row!
  setRow(state, row!, call.deadlineAt, undefined)
  const availableMicrocents = availableIn(walletOf(state, call.consumerId))
  return { _tag: "Opened", held: Microcents.make(held), free, freeCallsLeft, availableMicrocents }
}

export const extend = (
  state: State,
  consumerId: ConsumerId,
  invocationId: ReceiptId,
  deadlineAt: DateTime.Utc
): boolean => {
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
