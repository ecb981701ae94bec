/**
 * The log in PostgreSQL: a row per tile, a row for the position of each receipt, and the row of the log, whose lock
 * admits one sequencer at a time.
 */
import { Array as Arr, Effect, Layer, Option } from "effect"
import { type Appended, type Log, LogStore, type NewLog } from "../../../domain/log/LogStore.ts"
import { leafTile, TILE_WIDTH, type TilePlace } from "../../../domain/log/Tiles.ts"
import type { ReceiptId } from "../../../domain/shared/Ids.ts"
import { columnsOf } from "../shared/Columns.ts"
import { causeOfCode, FREE_PROXY_CODE, originOfCode, uuidOfReceipt } from "../ledger/LedgerCodes.ts"
import { hasReceiptId } from "../receipts/ReceiptQueries.ts"
import { RECEIPT_COLUMNS, type ReceiptRow, toReceipt } from "../receipts/ReceiptRows.ts"
import { storeSql } from "../shared/StoreSql.ts"

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

interface PlaceRow {
  readonly log: number
  readonly leaf: bigint
}

const BEFORE_ALL = "00000000-0000-0000-0000-000000000000"

export const layer = Layer.effect(
  LogStore,
  Effect.gen(function* () {
    const sql = yield* storeSql
    const columns = sql.literal(RECEIPT_COLUMNS)

    const begin = Effect.fn("PostgresLogStore.begin")(function* (log: NewLog) {
      const rows = yield* sql`
        INSERT INTO receipt_logs (number, origin, public_key, salt_key, size, root, checkpoint, statement)
        VALUES (${log.number}, ${log.origin}, ${log.publicKey}, ${log.saltKey}, 0, ${log.root}, ${log.checkpoint},
          ${log.statement ?? null})
        ON CONFLICT (number) DO NOTHING RETURNING number`
      return rows.length === 1
    })

    const lock = sql<LogRow>`
      SELECT * FROM receipt_logs WHERE number = (SELECT max(number) FROM receipt_logs) FOR UPDATE SKIP LOCKED`.pipe(
      Effect.map((rows) => Option.map(Arr.head(rows), toLog))
    )

    /**
     * Waiting receipts in the order of their ids, which is nearly chronological. A receipt that has a position keeps
     * it. The query is written for row-by-row lookups, regardless of the planner's estimates for tables that grow by
     * millions.
     */
    const take = Effect.fn("PostgresLogStore.take")(function* (limit: number) {
      const rows = yield* sql<ReceiptRow & { readonly origin: number }>`
        WITH taken AS (
          DELETE FROM receipts_unlogged WHERE ctid = ANY (ARRAY(SELECT ctid FROM receipts_unlogged LIMIT ${limit}))
          RETURNING receipt_id, consumer_id
        )
        SELECT ${columns}, r.origin FROM taken CROSS JOIN LATERAL (
          SELECT * FROM receipts r
          WHERE r.receipt_id = taken.receipt_id AND r.consumer_id = taken.consumer_id LIMIT 1) r
        WHERE (SELECT true FROM receipt_log_places p
          WHERE p.receipt_id = taken.receipt_id AND p.consumer_id = taken.consumer_id LIMIT 1) IS NULL
        ORDER BY r.receipt_id`
      return rows.map((row) => ({
        receipt: toReceipt(row),
        origin: originOfCode(row.origin),
        isFreeCall: row.origin === FREE_PROXY_CODE,
        cause: causeOfCode(row.status)
      }))
    })

    const append = Effect.fn("PostgresLogStore.append")(function* (batch: Appended) {
      yield* sql`
        INSERT INTO receipt_log_tiles (log, level, tile, hashes)
        SELECT ${batch.log}, t.* FROM unnest(
          ${columnsOf(batch.tiles).int2((tile) => tile.level)},
          ${columnsOf(batch.tiles).int8((tile) => tile.index)},
          ${columnsOf(batch.tiles).bytea((tile) => tile.hashes)}) t
        ON CONFLICT (log, level, tile) DO UPDATE SET hashes = excluded.hashes`
      yield* sql`
        INSERT INTO receipt_log_places (receipt_id, consumer_id, log, leaf)
        SELECT r.receipt_id, r.consumer_id, ${batch.log}, ${BigInt(batch.firstIndex)}::int8 + r.nth - 1 FROM unnest(
          ${columnsOf(batch.receipts).uuid((receipt) => uuidOfReceipt(receipt.receipt_id))},
          ${columnsOf(batch.receipts).uuid((receipt) => receipt.agent_id)})
          WITH ORDINALITY AS r (receipt_id, consumer_id, nth)`
      const moved = yield* sql`
        UPDATE receipt_logs SET size = ${BigInt(batch.size)}, root = ${batch.root}, checkpoint = ${batch.checkpoint}
        WHERE number = ${batch.log} AND size = ${BigInt(batch.firstIndex)} RETURNING number`
      if (moved.length !== 1) {
        return yield* Effect.die(new Error(`Log ${batch.log} does not end at ${batch.firstIndex}`))
      }
    })

    const tiles = Effect.fn("PostgresLogStore.tiles")(function* (log: number, places: ReadonlyArray<TilePlace>) {
      if (places.length === 0) return []
      const rows = yield* sql<{ readonly level: number; readonly tile: bigint; readonly hashes: Uint8Array }>`
        SELECT t.level, t.tile, t.hashes FROM unnest(
          ${columnsOf(places).int2((place) => place.level)},
          ${columnsOf(places).int8((place) => place.index)}) AS a (level, tile)
        JOIN receipt_log_tiles t ON t.log = ${log} AND t.level = a.level AND t.tile = a.tile`
      return rows.map(({ hashes, level, tile }) => ({ level, index: Number(tile), hashes }))
    })

    const find = Effect.fn("PostgresLogStore.find")(function* (id: ReceiptId) {
      const rows = yield* sql<LogRow & ReceiptRow & { readonly leaf: bigint; readonly hashes: Uint8Array }>`
        SELECT ${columns}, l.*, p.leaf, t.hashes FROM receipt_log_places p
        JOIN receipts r ON r.receipt_id = p.receipt_id AND r.consumer_id = p.consumer_id
        JOIN receipt_logs l ON l.number = p.log
        JOIN receipt_log_tiles t ON t.log = p.log AND t.level = 0 AND t.tile = p.leaf / ${TILE_WIDTH}
        WHERE ${hasReceiptId(sql, "p.receipt_id", id)}`
      return Option.map(Arr.head(rows), (row) => {
        const index = Number(row.leaf)
        return { receipt: toReceipt(row), index, log: toLog(row), tile: { ...leafTile(index), hashes: row.hashes } }
      })
    })

    const scan = Effect.fn("PostgresLogStore.scan")(function* (after: ReceiptId | undefined, limit: number) {
      const rows = yield* sql<ReceiptRow & { readonly log: number | null; readonly leaf: bigint | null }>`
        SELECT ${columns}, p.log, p.leaf FROM receipts r
        LEFT JOIN receipt_log_places p ON p.receipt_id = r.receipt_id AND p.consumer_id = r.consumer_id
        WHERE r.receipt_id > ${after === undefined ? BEFORE_ALL : uuidOfReceipt(after)}
        ORDER BY r.receipt_id LIMIT ${limit}`
      return rows.map((row) => ({
        receipt: toReceipt(row),
        place: row.log === null || row.leaf === null ? undefined : toPlace({ log: row.log, leaf: row.leaf })
      }))
    })

    return LogStore.of({
      logs: sql<LogRow>`SELECT * FROM receipt_logs ORDER BY number`.pipe(Effect.map((rows) => rows.map(toLog))),
      begin,
      lock,
      stop: (log, reason, signedNote) =>
        sql`UPDATE receipt_logs SET stopped = ${reason}, signed_note = ${signedNote} WHERE number = ${log}`.pipe(
          Effect.asVoid
        ),
      waiting: sql<{ readonly waiting: boolean }>`SELECT EXISTS (SELECT FROM receipts_unlogged) AS waiting`.pipe(
        Effect.map(([row]) => row!.waiting)
      ),
      take,
      append,
      tiles,
      find,
      scan
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

const toPlace = ({ leaf, log }: PlaceRow) => ({ log, index: Number(leaf) })
