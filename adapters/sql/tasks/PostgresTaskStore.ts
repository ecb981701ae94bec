/**
 * Tasks of calls in PostgreSQL.
 */
import { type DateTime } from "effect"
import {
  type CallTask,
  type FinalStatus,
  type ListedTask,
  type TaskProgress,
  TaskStore
} from "../../../domain/tasks/CallTask.ts"
import { rowReader, toDate, toDateOrNull } from "../shared/Rows.ts"
import { prune, storeLayer } from "../shared/StoreSql.ts"

/** A task with its session, its progress and its end as columns. */
interface Columns extends Omit<CallTask, "ended" | "final" | "progress" | "session">, TaskProgress {
  readonly upstreamVersion: string | undefined
  readonly upstreamSessionId: string | undefined
  readonly outcome: string | undefined
  readonly endedAt: DateTime.Utc | undefined
  readonly status: FinalStatus | undefined
  readonly final: string | undefined
}

const toColumns = rowReader<Columns>({ receipt_id: "invocationId" })

const toTask = (row: object): CallTask => {
  const { askedAt, dueAt, expiresAt, failures, pollMs, state, waitedMs, waitingSince, ...columns } = toColumns(row)
  const { endedAt, final, outcome, status, upstreamSessionId, upstreamVersion, ...task } = columns
  return {
    ...task,
    session: upstreamVersion === undefined ? undefined : { version: upstreamVersion, sessionId: upstreamSessionId },
    progress: { askedAt, dueAt, expiresAt, failures, pollMs, state, waitedMs, waitingSince },
    ended: endedAt === undefined ? undefined : { outcome: outcome!, at: endedAt },
    final: final === undefined ? undefined : { status: status!, text: final }
  }
}

const toListed = (row: object): ListedTask => {
  const { createdAt, endedAt, id, status, ...progress } = toColumns(row)
  return {
    id,
    createdAt,
    progress,
    final: status === undefined ? undefined : { status, endedAt: endedAt! }
  }
}

export const layer = storeLayer(TaskStore, (sql) => ({
  add: (task) => {
    const { progress, session } = task
    return sql`
      INSERT INTO mcp_tasks (id, consumer_id, provider_id, endpoint_url, upstream_version, upstream_session_id,
        receipt_id, upstream_id, key_hash, terms, created_at, state, poll_ms, expires_at, asked_at, due_at, failures,
        waited_ms, waiting_since, canceled)
      VALUES (${task.id}, ${task.consumerId}, ${task.providerId}, ${task.endpointUrl}, ${session?.version ?? null},
        ${session?.sessionId ?? null}, ${task.invocationId}, ${task.upstreamId}, ${task.keyHash ?? null}, ${task.terms}, ${toDate(task.createdAt)}, ${progress.state},
        ${progress.pollMs}, ${toDate(progress.expiresAt)}, ${toDate(progress.askedAt)}, ${toDate(progress.dueAt)},
        ${progress.failures}, ${progress.waitedMs}, ${toDateOrNull(progress.waitingSince)}, ${task.canceled})`.done
  },

  find: (id) => sql`SELECT * FROM mcp_tasks WHERE id = ${id}`.first(toTask),

  findByKey: (consumerId, keyHash) =>
    sql`
      SELECT * FROM mcp_tasks WHERE consumer_id = ${consumerId} AND key_hash = ${keyHash}
      ORDER BY created_at DESC LIMIT 1`.first(toTask),

  list: ({ consumerId, providerId }, after, limit) =>
    sql`
      SELECT id, created_at, state, poll_ms, expires_at, asked_at, due_at, failures, waited_ms, waiting_since,
        ended_at, status
      FROM mcp_tasks WHERE ${sql.and([
        sql`consumer_id = ${consumerId}`,
        ...(providerId === undefined ? [] : [sql`provider_id = ${providerId}`]),
        ...(after === undefined ? [] : [sql`(created_at, id) < (${toDate(after.createdAt)}, ${after.id})`])
      ])}
      ORDER BY created_at DESC, id DESC LIMIT ${limit}`.unprepared.all(toListed),

  claim: (id, askedBefore, now) =>
    sql`
      UPDATE mcp_tasks SET asked_at = ${toDate(now)}
      WHERE id = ${id} AND final IS NULL AND asked_at <= ${toDate(askedBefore)} RETURNING *`.first(toTask),

  claimDue: (now, nextAt, limit) =>
    sql`
      UPDATE mcp_tasks SET asked_at = ${toDate(now)}, due_at = ${toDate(nextAt)} WHERE id IN (
        SELECT id FROM mcp_tasks WHERE final IS NULL AND due_at <= ${toDate(now)}
        ORDER BY due_at LIMIT ${limit} FOR UPDATE SKIP LOCKED)
      RETURNING *`.all(toTask),

  note: (id, progress) =>
    sql`
      UPDATE mcp_tasks SET state = ${progress.state}, poll_ms = ${progress.pollMs},
        expires_at = ${toDate(progress.expiresAt)}, asked_at = ${toDate(progress.askedAt)},
        due_at = ${toDate(progress.dueAt)}, failures = ${progress.failures},
        waited_ms = ${progress.waitedMs}, waiting_since = ${toDateOrNull(progress.waitingSince)}
      WHERE id = ${id} AND ended_at IS NULL`.done,

  cancel: (id) => sql`UPDATE mcp_tasks SET canceled = true WHERE id = ${id} AND ended_at IS NULL RETURNING 1`.hasRows,

  end: (id, outcome, at) =>
    sql`
      UPDATE mcp_tasks SET outcome = ${outcome}, ended_at = ${toDate(at)}
      WHERE id = ${id} AND ended_at IS NULL RETURNING 1`.hasRows,

  // The outcome is needed no longer. A statement does not see the row that it changes: the others are summed without it.
  settle: (id, final, bytesMax) =>
    sql`
      WITH settled AS (
        UPDATE mcp_tasks SET final = ${final.text}, status = ${final.status}, outcome = '', state = '{}'
        WHERE id = ${id} AND final IS NULL AND ended_at IS NOT NULL RETURNING consumer_id
      ), others AS (
        SELECT t.id, sum(octet_length(t.final) + octet_length(t.terms)) OVER (ORDER BY t.ended_at DESC, t.id) AS bytes
        FROM mcp_tasks t JOIN settled USING (consumer_id) WHERE t.final IS NOT NULL
      )
      DELETE FROM mcp_tasks WHERE id IN (
        SELECT id FROM others WHERE bytes + octet_length(${final.text}::text) > ${bytesMax}::int8)`.done,

  remove: (id) => sql`DELETE FROM mcp_tasks WHERE id = ${id}`.done,

  removeAll: (consumerId) => sql`DELETE FROM mcp_tasks WHERE consumer_id = ${consumerId}`.done,

  prune: (endedBefore, limit) =>
    prune(sql, "mcp_tasks", sql`final IS NOT NULL AND ended_at < ${toDate(endedBefore)}`, limit)
}))
