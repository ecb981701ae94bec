/**
 * The operator's lists of accounts, audit trail and sessions in memory.
 */
import { DateTime, Effect, Layer, Option } from "effect"
import {
  type OperatorSession,
  type OperatorSessionId,
  OperatorSessionStore,
  type SessionTimes
} from "../../../domain/accounts/Authentication.ts"
import { AccountSearch } from "../../../domain/operator/AccountSearch.ts"
import { type AuditEntry, type AuditEntryId, AuditTrailStore } from "../../../domain/operator/AuditTrail.ts"
import { COUNTED_MAX, type Page, type PageRequest } from "../../../domain/shared/Page.ts"
import { memoryLayer, memoryStore } from "../shared/MemoryStore.ts"
import { newestFirst, pageById, prune } from "../shared/MemoryRows.ts"
import { MemoryTables } from "../shared/MemoryTables.ts"
import { put, remove } from "../shared/MemoryUnitOfWork.ts"

interface Named {
  readonly id: string
  readonly name: string
  readonly email: string
  readonly handle?: string
}

const accountSearch = memoryLayer(AccountSearch, MemoryTables, ({ consumers, providers }) => {
  const listed = <Row extends Named>(rows: Iterable<Row>, search: string | undefined, page: PageRequest): Page<Row> => {
    const start = search?.toLowerCase() ?? ""
    const found = [...rows].filter(
      (one) =>
        one.id === start ||
        [one.name, one.email, one.handle].some((text) => text?.toLowerCase().startsWith(start) === true)
    )
    const listedPage = pageById(found, page)
    return { ...listedPage, total: Math.min(listedPage.total, COUNTED_MAX) }
  }
  const those =
    <Id extends string, Row>(rows: ReadonlyMap<Id, Row>) =>
    (ids: ReadonlyArray<Id>) =>
      ids.flatMap((id) => rows.get(id) ?? [])

  return {
    consumers: (search, page) => listed(consumers.values(), search, page),
    providers: (search, page) => listed(providers.values(), search, page),
    consumersOf: those(consumers),
    providersOf: those(providers)
  }
})

const auditTrailStore = Layer.sync(AuditTrailStore, () => {
  const entries = new Map<AuditEntryId, AuditEntry>()
  return memoryStore(AuditTrailStore, {
    append: (entry) => put(entries, entry.id, entry),
    list: ({ action, subject }, page) =>
      pageById(
        [...entries.values()].filter(
          (one) => (action === undefined || one.action === action) && (subject === undefined || one.subject === subject)
        ),
        page
      )
  })
})

const operatorSessionStore = Layer.sync(OperatorSessionStore, () => {
  const sessions = new Map<string, OperatorSession>()

  const isOver = ({ expiresAt, lastUsedAt }: OperatorSession, { idleSince, now }: SessionTimes): boolean =>
    DateTime.isLessThanOrEqualTo(expiresAt, now) || DateTime.isLessThan(lastUsedAt, idleSince)

  const insert = Effect.fnUntraced(function* (session: OperatorSession, hash: string, liveMax: number) {
    yield* put(sessions, hash, session)
    const kept = new Set([...sessions.values()].toSorted(newestFirst((one) => one.createdAt)).slice(0, liveMax))
    for (const [key, one] of sessions) if (!kept.has(one)) yield* remove(sessions, key)
  })

  const use = Effect.fnUntraced(function* (hash: string, times: SessionTimes) {
    const found = sessions.get(hash)
    if (found === undefined || isOver(found, times)) return Option.none<OperatorSession>()
    const used = { ...found, lastUsedAt: times.now }
    yield* put(sessions, hash, used)
    return Option.some<OperatorSession>(used)
  })

  const end = (id: OperatorSessionId) =>
    Effect.map(
      prune(sessions, (one) => one.id === id, 1),
      (ended) => ended === 1
    )

  const endAll = Effect.suspend(() => prune(sessions, () => true, sessions.size))

  return memoryStore(OperatorSessionStore, {
    insert,
    use,
    end,
    endAll,
    prune: (times, limit) => prune(sessions, (one) => isOver(one, times), limit)
  })
})

export const layer = Layer.mergeAll(accountSearch, auditTrailStore, operatorSessionStore)
