/**
 * Grants, bound keys, pinned tool names, unfit outputs and usage in memory.
 */
import { DateTime, Effect, Layer, Option } from "effect"
import { type MeterKey, MeterKeyStore } from "../../../domain/metering/DirectMetering.ts"
import {
  DEAD_GRANTS_SHOWN_MAX,
  type Grant,
  GrantStore,
  isActive,
  type Reservation
} from "../../../domain/metering/Grants.ts"
import { type UnfitOutput, UnfitOutputs } from "../../../domain/metering/Settlement.ts"
import { NamePinStore, type PinFound } from "../../../domain/metering/ToolDirectory.ts"
import {
  sumUp,
  type UsageCall,
  type UsageOfToolDay,
  UsageStore,
  type UsageTotals
} from "../../../domain/metering/Usage.ts"
import type { ReceiptOwner } from "../../../domain/receipts/Receipts.ts"
import type { ConsumerId, GrantId, ReceiptId, ToolId } from "../../../domain/shared/Ids.ts"
import { format } from "../../../domain/shared/Time.ts"
import { type ClosedCallRow, MemoryLedger } from "../ledger/MemoryLedger.ts"
import { callsOf, newestPage } from "../receipts/MemoryReceiptStore.ts"
import { memoryLayer, memoryStore } from "../shared/MemoryStore.ts"
import { newestFirst, oldestFirst, prune } from "../shared/MemoryRows.ts"
import { put, remove, write } from "../shared/MemoryUnitOfWork.ts"

const grantStore = Layer.sync(GrantStore, () => {
  const grants = new Map<GrantId, Grant>()
  const reservations = new Map<ReceiptId, Reservation>()

  const ofConsumer = (consumerId: ConsumerId): ReadonlyArray<Grant> =>
    [...grants.values()].filter((grant) => grant.consumerId === consumerId)

  return memoryStore(GrantStore, {
    insert: (grant) => put(grants, grant.id, grant),
    ofConsumer: (consumerId, now) => {
      const all = ofConsumer(consumerId).toSorted(newestFirst((grant) => grant.createdAt))
      let dead = 0
      return all.filter((grant) => isActive(grant, now) || dead++ < DEAD_GRANTS_SHOWN_MAX)
    },
    between: (consumerId, providerId, now) =>
      ofConsumer(consumerId)
        .filter((grant) => grant.providerId === providerId && isActive(grant, now))
        .toSorted(oldestFirst((grant) => grant.createdAt)),
    find: (consumerId, id) => Option.fromUndefinedOr(ofConsumer(consumerId).find((grant) => grant.id === id)),
    revoke: Effect.fnUntraced(function* (consumerId, id, at) {
      const grant = grants.get(id)
      if (grant === undefined || grant.consumerId !== consumerId || grant.revokedAt !== undefined) return Option.none()
      const revoked: Grant = { ...grant, revokedAt: DateTime.makeUnsafe(at.epochMilliseconds) }
      yield* put(grants, id, revoked)
      return Option.some(revoked)
    }),
    setSpent: Effect.fnUntraced(function* (id, consumerId, spent, periodStart) {
      const grant = grants.get(id)
      if (grant?.consumerId === consumerId) yield* put(grants, id, { ...grant, spent, periodStart })
    }),
    reserve: (reservation) => put(reservations, reservation.invocationId, reservation),
    takeReservation: (consumerId, invocationId) =>
      write(
        () => {
          const reservation = reservations.get(invocationId)
          if (reservation?.consumerId !== consumerId) return undefined
          reservations.delete(invocationId)
          return reservation
        },
        (taken) => {
          if (taken !== undefined) reservations.set(taken.invocationId, taken)
        }
      ).pipe(Effect.map(Option.fromUndefinedOr)),
    reservedBefore: (before, limit) =>
      [...reservations.values()]
        .filter((reservation) => DateTime.isLessThan(reservation.reservedAt, before))
        .toSorted((a, b) => a.reservedAt.epochMilliseconds - b.reservedAt.epochMilliseconds)
        .slice(0, limit)
  })
})

interface Row {
  readonly consumerId: MeterKey["consumerId"]
  readonly bindings: number
  readonly boundAtMs: number
}

const meterKeyStore = Layer.sync(MeterKeyStore, () => {
  const rows = new Map<string, Row>()
  return memoryStore(MeterKeyStore, {
    bind: (key, at) => {
      const { bindings, boundAtMs, consumerId } = rows.get(bindingOf(key)) ?? { ...key, bindings: 0, boundAtMs: 0 }
      if (bindings > 0 && consumerId !== key.consumerId) return false
      rows.set(bindingOf(key), {
        consumerId: key.consumerId,
        bindings: bindings + 1,
        boundAtMs: Math.max(boundAtMs, at.epochMilliseconds)
      })
      return true
    },

    release: (key) => {
      const row = rows.get(bindingOf(key))
      if (row === undefined || row.consumerId !== key.consumerId || row.bindings === 0) return
      rows.set(bindingOf(key), { ...row, bindings: row.bindings - 1 })
    },

    prune: (before, limit) => prune(rows, ({ boundAtMs }) => boundAtMs < before.epochMilliseconds, limit)
  })
})

const bindingOf = ({ keyHash, providerId }: MeterKey): string => `${providerId} ${keyHash}`

const namePinStore = Layer.sync(NamePinStore, () => {
  const pins = new Map<ConsumerId, Map<string, ToolId>>()

  const ofConsumer = (consumerId: ConsumerId): Map<string, ToolId> => {
    const known = pins.get(consumerId) ?? new Map<string, ToolId>()
    pins.set(consumerId, known)
    return known
  }

  return memoryStore(NamePinStore, {
    find: (consumerId, toolName, pinsMax): PinFound => {
      const theirs = pins.get(consumerId)
      const toolId = theirs?.get(toolName)
      if (toolId !== undefined) return { _tag: "Pinned", toolId }
      return { _tag: theirs !== undefined && theirs.size >= pinsMax ? "Full" : "Free" }
    },

    pin: ({ consumerId, toolId, toolName }) => {
      const theirs = ofConsumer(consumerId)
      const known = theirs.get(toolName)
      if (known === undefined) theirs.set(toolName, toolId)
      return known ?? toolId
    },

    removeAll: (consumerId) => remove(pins, consumerId)
  })
})

const unfitOutputs = Layer.sync(UnfitOutputs, () => {
  const recordedAtMs = new Map<string, number>()
  return memoryStore(UnfitOutputs, {
    note: (output, at) => {
      if (!recordedAtMs.has(outputOf(output))) recordedAtMs.set(outputOf(output), at.epochMilliseconds)
    },

    isRecorded: (output) => recordedAtMs.has(outputOf(output)),

    prune: (before, limit) => prune(recordedAtMs, (atMs) => atMs < before.epochMilliseconds, limit)
  })
})

const outputOf = ({ consumerId, receiptId }: UnfitOutput): string => `${consumerId} ${receiptId}`

const usageStore = memoryLayer(UsageStore, MemoryLedger, (ledger) => {
  const since = (owner: ReceiptOwner, start: DateTime.Utc) =>
    callsOf(ledger, owner).filter(({ receipt }) => receipt.timestamp >= format(start))

  return {
    recent: (owner, filter, page) => {
      const all = since(owner, filter.since)
      const asked = all.filter(
        ({ receipt }) =>
          (filter.toolId === undefined || receipt.tool_id === filter.toolId) &&
          (filter.status === undefined || receipt.status === filter.status)
      )
      return { totals: sumUp(all.map(ofCall)), calls: newestPage(asked, page, toCall) }
    },
    byToolAndDay: (owner, start) =>
      [...Map.groupBy(since(owner, start), toolAndDay).values()].map((calls): UsageOfToolDay => {
        const { receipt } = calls[0]!
        const { timestamp, tool_id: toolId, tool_name: toolName } = receipt
        return { ...sumUp(calls.map(ofCall)), toolId, toolName, date: timestamp.slice(0, 10) }
      }),
    // Usage is computed from the calls: there is nothing to roll up or to count.
    rollUp: () => 0,
    countWaiting: Effect.succeed(0)
  }
})

const ofCall = ({ receipt, ...call }: ClosedCallRow): UsageTotals => ({
  calls: 1,
  successes: receipt.status === "success" ? 1 : 0,
  spendMicrocents: receipt.cost_microcents,
  feeMicrocents: call.fee,
  latencyMs: BigInt(receipt.duration_ms),
  requestBytes: BigInt(call.requestBytes ?? 0),
  responseBytes: BigInt(call.responseBytes ?? 0),
  tokensInput: BigInt(call.tokensInput ?? 0),
  tokensOutput: BigInt(call.tokensOutput ?? 0)
})

const toolAndDay = ({ receipt }: ClosedCallRow): string => `${receipt.tool_id} ${receipt.timestamp.slice(0, 10)}`

const toCall = ({ receipt }: ClosedCallRow): UsageCall => ({
  receiptId: receipt.receipt_id,
  toolId: receipt.tool_id,
  toolName: receipt.tool_name,
  status: receipt.status,
  costMicrocents: receipt.cost_microcents,
  durationMs: receipt.duration_ms,
  calledAt: receipt.timestamp
})

export const layer = Layer.mergeAll(grantStore, meterKeyStore, namePinStore, unfitOutputs, usageStore)
