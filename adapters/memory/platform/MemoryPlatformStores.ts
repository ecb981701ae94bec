/**
 * Health history, figures, submissions, upkeep and the waitlist in memory.
 */
import { Clock, DateTime, Effect, Layer, Option } from "effect"
import { BACKLOG_COUNTED_MAX, SchemaKeeper, StoreWatch } from "../../../domain/platform/Health.ts"
import { added, HealthHistoryStore, type HealthSamples } from "../../../domain/platform/HealthHistory.ts"
import { PlatformFigures } from "../../../domain/platform/PlatformStats.ts"
import {
  type Submission,
  type SubmissionKind,
  SubmissionStore,
  type WaitlistEntry,
  WaitlistStore
} from "../../../domain/platform/Submissions.ts"
import { format } from "../../../domain/shared/Time.ts"
import { MemoryLedger } from "../ledger/MemoryLedger.ts"
import { memoryStore } from "../shared/MemoryStore.ts"
import { add, newestFirst, prune } from "../shared/MemoryRows.ts"
import { MemoryTables } from "../shared/MemoryTables.ts"
import { put, remove } from "../shared/MemoryUnitOfWork.ts"

const healthHistoryStore = Layer.sync(HealthHistoryStore, () => {
  const rows = new Map<string, HealthSamples>()
  const sorted = () => [...rows].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row)
  return memoryStore(HealthHistoryStore, {
    add: Effect.fnUntraced(function* (samples) {
      for (const one of samples) {
        const key = `${one.date} ${one.check}`
        const known = rows.get(key)
        yield* put(rows, key, known === undefined ? one : added(known, one))
      }
    }),
    since: (date) => sorted().filter((row) => row.date >= date),
    prune: (before, limit) => {
      const old = new Set(
        sorted()
          .filter((row) => row.date < before)
          .slice(0, limit)
      )
      return prune(rows, (row) => old.has(row), limit)
    }
  })
})

const platformFigures = Layer.effect(
  PlatformFigures,
  Effect.gen(function* () {
    const { consumers, providers, tools } = yield* MemoryTables
    const { closedCalls } = yield* MemoryLedger
    return memoryStore(PlatformFigures, {
      count: (since) => {
        if (since === undefined) {
          return {
            providers: providers.size,
            consumers: consumers.size,
            tools: [...tools.values()].filter(
              ({ tool }) => tool.withdrawnAt === undefined && providers.get(tool.providerId)?.frozen === undefined
            ).length,
            invocations: closedCalls.size
          }
        }
        const isNew = (row: { readonly createdAt: DateTime.Utc }) =>
          DateTime.isGreaterThanOrEqualTo(row.createdAt, since)
        const hour = format(since)
        return {
          providers: [...providers.values()].filter(isNew).length,
          consumers: [...consumers.values()].filter(isNew).length,
          tools: [...tools.values()].filter(({ tool }) => isNew(tool)).length,
          invocations: [...closedCalls.values()].filter(({ receipt }) => receipt.timestamp >= hour).length
        }
      }
    })
  })
)

const submissionStore = Layer.sync(SubmissionStore, () => {
  const submissions = new Map<string, Submission>()
  const ofKind = (kind: SubmissionKind) => [...submissions.values()].filter((one) => one.kind === kind)
  return memoryStore(SubmissionStore, {
    add: (submission) => put(submissions, submission.id, submission),
    recent: (kind, limit) =>
      ofKind(kind)
        .toSorted(newestFirst((one) => one.submittedAt))
        .slice(0, limit),
    eraseOf: Effect.fnUntraced(function* (contact) {
      const theirs = [...submissions.values()].filter(
        ({ content }) =>
          String(content["contact"] ?? "")
            .trim()
            .toLowerCase() === contact.toLowerCase()
      )
      for (const one of theirs) yield* put(submissions, one.id, { ...one, content: {} })
      return theirs.length
    }),
    count: (kind, since) =>
      ofKind(kind).filter(
        ({ submittedAt }) => since === undefined || DateTime.isGreaterThanOrEqualTo(submittedAt, since)
      ).length
  })
})

// Upkeep of the memory stores. They have no schema, and their health check always succeeds.

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

const upkeep = Layer.merge(keeper, watch)

const waitlistStore = Layer.sync(WaitlistStore, () => {
  const entries = new Map<string, WaitlistEntry>()
  return memoryStore(WaitlistStore, {
    add: (entry) => add(entries, entry.email, entry),
    find: (email) => Option.fromNullishOr(entries.get(email)),
    erase: Effect.fnUntraced(function* (email) {
      const entry = entries.get(email)
      if (entry === undefined) return false
      const anonymousEmail = `erased+${entry.id}@erased.invalid`
      yield* remove(entries, email)
      yield* put(entries, anonymousEmail, { ...entry, email: anonymousEmail, source: "" })
      return true
    }),
    count: (since) =>
      since === undefined
        ? entries.size
        : [...entries.values()].filter(({ joinedAt }) => DateTime.isGreaterThanOrEqualTo(joinedAt, since)).length
  })
})

export const layer = Layer.mergeAll(healthHistoryStore, platformFigures, submissionStore, upkeep, waitlistStore)
