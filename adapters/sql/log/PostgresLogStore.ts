/**
 * The log in PostgreSQL: a row per tile, a row for the position of each receipt, and the row of the log, whose lock
 * admits one sequencer at a time.
 */
import { Effect, Layer } from "effect"
import { type Log, LogStore } from "../../../domain/log/LogStore.ts"
import { leafTile, TILE_WIDTH } from "../../../domain/log/Tiles.ts"
import { columnsOf } from "../shared/Columns.ts"
import { causeOfCode, FREE_PROXY_CODE, originOfCode, uuidOfReceipt } from "../ledger/LedgerCodes.ts"
import { hasReceiptId } from "../receipts/ReceiptQueries.ts"
import { RECEIPT_COLUMNS, type ReceiptRow, toReceipt } from "../receipts/ReceiptRows.ts"
import { addUsage } from "../metering/UsageRows.ts"
import { storeSql } from "../shared/StoreSql.ts"
import { waitingRows } from "./WaitingReceipts.ts"

interface LogRow {
  readonly number: number
  readonly origin: string
  readonly public_key: Uint8Array
  readonly salt_key: Uint8Array
  readonly size: bigint
  readonly root: Uint8Array
  readonly checkpoint: string
  readonly stopped: string | null
  readonly signed_note: string | null
  readonly statement: string | null
}

const BEFORE_ALL = "00000000-0000-0000-0000-000000000000"

export const layer = Layer.effect(
  LogStore,
  Effect.gen(function* () {
    const sql = yield* storeSql
    const columns = sql.literal(RECEIPT_COLUMNS)

    return LogStore.of({
      logs: sql<LogRow>`SELECT * FROM receipt_logs ORDER BY number`.all(toLog),

      begin: Effect.fn("PostgresLogStore.begin")(
        (log) =>
          sql`
            INSERT INTO receipt_logs (number, origin, public_key, salt_key, size, root, checkpoint, statement)
            VALUES (${log.number}, ${log.origin}, ${log.publicKey}, ${log.saltKey}, 0, ${log.root}, ${log.checkpoint},
              ${log.statement ?? null})
            ON CONFLICT (number) DO NOTHING RETURNING number`.hasRows
      ),

      lock: sql<LogRow>`
        SELECT * FROM receipt_logs WHERE number = (SELECT max(number) FROM receipt_logs)
        FOR UPDATE SKIP LOCKED`.first(toLog),

      stop: (log, reason, signedNote) =>
        sql`UPDATE receipt_logs SET stopped = ${reason}, signed_note = ${signedNote} WHERE number = ${log}`.pipe(
          Effect.asVoid
        ),

      waiting: sql<{ readonly waiting: boolean }>`SELECT EXISTS (SELECT FROM receipts_unlogged) AS waiting`.one(
        ({ waiting }) => waiting
      ),

      /**
       * Waiting receipts in the order of their ids, which is nearly chronological. A receipt that has a position keeps
       * it. Deleting the row of a receipt adds it to the usage. The query is written for row-by-row lookups,
       * regardless of the planner's estimates for tables that grow by millions.
       */
      take: Effect.fn("PostgresLogStore.take")((limit) =>
        sql<ReceiptRow & { readonly origin: number }>`
          WITH taken AS (
            DELETE FROM receipts_unlogged WHERE first_receipt = ANY (ARRAY(${waitingRows(sql, limit)}))
            RETURNING receipt_ids, usage_counted
          ), counted AS (
            ${addUsage(sql, sql`taken CROSS JOIN LATERAL usage_of(taken.receipt_ids) WHERE NOT taken.usage_counted`)}
          )
          SELECT ${columns}, r.origin FROM taken CROSS JOIN LATERAL unnest(taken.receipt_ids) AS i (id)
          CROSS JOIN LATERAL (SELECT * FROM receipts WHERE receipt_id = i.id LIMIT 1) r
          WHERE (SELECT true FROM receipt_log_places p WHERE p.receipt_id = i.id LIMIT 1) IS NULL
          ORDER BY r.receipt_id`.all((row) => ({
          receipt: toReceipt(row),
          origin: originOfCode(row.origin),
          isFreeCall: row.origin === FREE_PROXY_CODE,
          cause: causeOfCode(row.status)
        }))
      ),

      append: Effect.fn("PostgresLogStore.append")(function* (batch) {
        const tiles = columnsOf(batch.tiles)
        const receipts = columnsOf(batch.receipts)
        yield* sql`
          INSERT INTO receipt_log_tiles (log, level, tile, hashes)
          SELECT ${batch.log}, t.* FROM unnest(${tiles.int2((tile) => tile.level)}, ${tiles.int8((tile) => tile.index)},
            ${tiles.bytea((tile) => tile.hashes)}) t
          ON CONFLICT (log, level, tile) DO UPDATE SET hashes = excluded.hashes`
        yield* sql`
          INSERT INTO receipt_log_places (receipt_id, consumer_id, log, leaf)
          SELECT r.receipt_id, r.consumer_id, ${batch.log}, ${BigInt(batch.firstIndex)}::int8 + r.nth - 1 FROM unnest(
            ${receipts.uuid((receipt) => uuidOfReceipt(receipt.receipt_id))},
            ${receipts.uuid((receipt) => receipt.agent_id)}) WITH ORDINALITY AS r (receipt_id, consumer_id, nth)`
        const isMoved = yield* sql`
          UPDATE receipt_logs SET size = ${BigInt(batch.size)}, root = ${batch.root}, checkpoint = ${batch.checkpoint}
          WHERE number = ${batch.log} AND size = ${BigInt(batch.firstIndex)} RETURNING number`.hasRows
        if (!isMoved) return yield* Effect.die(new Error(`Log ${batch.log} does not end at ${batch.firstIndex}`))
      }),

      tiles: Effect.fn("PostgresLogStore.tiles")(function* (log, places) {
        if (places.length === 0) return []
        const { int2, int8 } = columnsOf(places)
        return yield* sql<{ readonly level: number; readonly tile: bigint; readonly hashes: Uint8Array }>`
          SELECT t.level, t.tile, t.hashes
          FROM unnest(${int2((place) => place.level)}, ${int8((place) => place.index)}) AS a (level, tile)
          JOIN receipt_log_tiles t ON t.log = ${log} AND t.level = a.level AND t.tile = a.tile`.all(
          ({ hashes, level, tile }) => ({ level, index: Number(tile), hashes })
        )
      }),

      find: Effect.fn("PostgresLogStore.find")((id) =>
        sql<LogRow & ReceiptRow & { readonly leaf: bigint; readonly hashes: Uint8Array }>`
          SELECT ${columns}, l.*, p.leaf, t.hashes FROM receipt_log_places p
          JOIN receipts r ON r.receipt_id = p.receipt_id AND r.consumer_id = p.consumer_id
          JOIN receipt_logs l ON l.number = p.log
          JOIN receipt_log_tiles t ON t.log = p.log AND t.level = 0 AND t.tile = p.leaf / ${TILE_WIDTH}
          WHERE ${hasReceiptId(sql, "p.receipt_id", id)}`.first((row) => {
          const index = Number(row.leaf)
          return { receipt: toReceipt(row), index, log: toLog(row), tile: { ...leafTile(index), hashes: row.hashes } }
        })
      ),

      scan: Effect.fn("PostgresLogStore.scan")((after, limit) =>
        sql<ReceiptRow & { readonly log: number | null; readonly leaf: bigint | null }>`
          SELECT ${columns}, p.log, p.leaf FROM receipts r
          LEFT JOIN receipt_log_places p ON p.receipt_id = r.receipt_id AND p.consumer_id = r.consumer_id
          WHERE r.receipt_id > ${after === undefined ? BEFORE_ALL : uuidOfReceipt(after)}
          ORDER BY r.receipt_id LIMIT ${limit}`.all((row) => ({
          receipt: toReceipt(row),
          place: row.log === null || row.leaf === null ? undefined : { log: row.log, index: Number(row.leaf) }
        }))
      )
    })
  })
)

const toLog = (row: LogRow): Log => ({
  number: row.number,
  origin: row.origin,
  publicKey: row.public_key,
  saltKey: row.salt_key,
  size: Number(row.size),
  root: row.root,
  checkpoint: row.checkpoint,
  stopped: row.stopped ?? undefined,
  signedNote: row.signed_note ?? undefined,
  statement: row.statement ?? undefined
})
