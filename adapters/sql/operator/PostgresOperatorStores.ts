/**
 * The operator's lists of accounts, audit trail and sessions in PostgreSQL.
 */
import { Effect, Layer, Schema } from "effect"
import type { Consumer } from "../../../domain/accounts/Account.ts"
import {
  type OperatorSession,
  OperatorSessionStore,
  type SessionTimes
} from "../../../domain/accounts/Authentication.ts"
import { AccountSearch } from "../../../domain/operator/AccountSearch.ts"
import { type AuditEntry, AuditTrailStore } from "../../../domain/operator/AuditTrail.ts"
import { Uuid } from "../../../domain/shared/Ids.ts"
import { COUNTED_MAX } from "../../../domain/shared/Page.ts"
import { type FrozenRow, PROVIDER_COLUMNS, toProvider } from "../accounts/PostgresAccountStores.ts"
import { isStorable, rowReader, toDate } from "../shared/Rows.ts"
import { pageById, storeLayer } from "../shared/StoreSql.ts"

const toConsumer = rowReader<Consumer>({ default_cap_microcents: "defaultCap" })

const isUuid = Schema.is(Uuid)

const beginningWith = (search: string): string => `${search.toLowerCase().replaceAll(/[\\%_]/gu, "\\$&")}%`

const accountSearch = storeLayer(AccountSearch, (sql) => {
  const asked = (search: string | undefined, named: "consumers" | "providers") => {
    if (search === undefined) return sql`true`
    if (!isStorable(search)) return sql`false`
    const id = search.toLowerCase()
    if (isUuid(id)) return sql`id = ${id}`
    const start = beginningWith(search)
    return named === "consumers"
      ? sql`(lower(name) LIKE ${start} OR email LIKE ${start})`
      : sql`(lower(name) LIKE ${start} OR email LIKE ${start} OR handle LIKE ${start})`
  }

  return {
    consumers: (search, page) =>
      pageById(sql, page, {
        table: "consumers",
        where: asked(search, "consumers"),
        countedMax: COUNTED_MAX,
        read: toConsumer
      }),

    providers: (search, page) =>
      pageById(sql, page, {
        table: "providers",
        columns: PROVIDER_COLUMNS,
        where: asked(search, "providers"),
        countedMax: COUNTED_MAX,
        read: toProvider
      }),

    consumersOf: (ids) => sql`SELECT * FROM consumers WHERE id = ANY (${ids}::uuid[])`.all(toConsumer),

    providersOf: (ids) =>
      sql<FrozenRow>`
        SELECT ${sql.literal(PROVIDER_COLUMNS)} FROM providers WHERE id = ANY (${ids}::uuid[])`.all(toProvider)
  }
})

// The audit trail in PostgreSQL. The service's role may not change or delete its rows.

const toEntry = rowReader<AuditEntry>({ entry_id: "id", recorded_at: "at" })

const auditTrailStore = storeLayer(AuditTrailStore, (sql) => ({
  append: (entry) =>
    sql`
      INSERT INTO audit_trail (entry_id, recorded_at, action, actor, session_id, address, subject, reason, details)
      VALUES (${entry.id}, ${toDate(entry.at)}, ${entry.action}, ${entry.actor}, ${entry.sessionId ?? null}::uuid,
        ${entry.address}, ${entry.subject ?? null}, ${entry.reason ?? null}, ${entry.details ?? null})`.done,

  list: ({ action, subject }, page) => {
    const where = sql.and([
      sql`true`,
      ...(action === undefined ? [] : [sql`action = ${action}`]),
      ...(subject === undefined ? [] : [sql`subject = ${subject}`])
    ])
    return pageById(sql, page, { table: "audit_trail", id: "entry_id", where, read: toEntry })
  }
}))

const toSession = rowReader<OperatorSession>({ session_id: "id" })

const operatorSessionStore = storeLayer(OperatorSessionStore, (sql) => {
  const isOver = ({ idleSince, now }: SessionTimes) =>
    sql`(expires_at <= ${toDate(now)} OR last_used_at < ${toDate(idleSince)})`

  return {
    insert: Effect.fnUntraced(function* (session, hash, liveMax) {
      yield* sql`
        INSERT INTO operator_sessions (session_id, hash, name, created_at, expires_at, last_used_at)
        VALUES (${session.id}, decode(${hash}, 'hex'), ${session.name}, ${toDate(session.createdAt)},
          ${toDate(session.expiresAt)}, ${toDate(session.lastUsedAt)})`
      yield* sql`
        DELETE FROM operator_sessions WHERE session_id IN (
          SELECT session_id FROM operator_sessions ORDER BY created_at DESC, session_id DESC OFFSET ${liveMax})`
    }),

    use: (hash, times) =>
      sql`
        UPDATE operator_sessions SET last_used_at = ${toDate(times.now)}
        WHERE hash = decode(${hash}, 'hex') AND NOT ${isOver(times)}
        RETURNING session_id, name, created_at, expires_at, last_used_at`.first(toSession),

    end: (id) => sql`DELETE FROM operator_sessions WHERE session_id = ${id} RETURNING session_id`.hasRows,

    endAll: sql`DELETE FROM operator_sessions RETURNING session_id`.count,

    prune: (times, limit) =>
      sql`
        DELETE FROM operator_sessions WHERE session_id IN (
          SELECT session_id FROM operator_sessions WHERE ${isOver(times)} LIMIT ${limit})
        RETURNING session_id`.count
  }
})

export const layer = Layer.mergeAll(accountSearch, auditTrailStore, operatorSessionStore)
