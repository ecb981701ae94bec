/**
 * The log in PostgreSQL: a row per part of a tile, a row for the position of each receipt, and the row of the log, whose lock
 * admits one sequencer at a time.
 */
import { Effect, Layer } from "effect"
import type { Statement } from "effect/sql"
import { type Log, LogStore } from "../../../domain/log/LogStore.ts"
import { HASH_BYTES } from "../../../domain/log/MerkleTree.ts"
import { edgeOf, leafTile, partialWidth, type Tile, TILE_WIDTH, type TilePlace } from "../../../domain/log/Tiles.ts"
import { causeOfCode, FREE_PROXY_CODE, originOfCode, uuidOfReceipt } from "../ledger/LedgerCodes.ts"
import { ReceiptCounter } from "../ledger/ReceiptCounter.ts"
import { hasReceiptId, RECEIPT_COLUMNS, type ReceiptRow, toReceipt } from "../receipts/PostgresReceiptStore.ts"
import { columnsOf } from "../shared/Columns.ts"
import { type StoreSql, storeSql, tracedStore } from "../shared/StoreSql.ts"

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

/** Hashes in a row: see `migrations/main/ReceiptLog.ts`. */
const PART_WIDTH = 16
const PART_BYTES = PART_WIDTH * HASH_BYTES

const BEFORE_ALL = "00000000-0000-0000-0000-000000000000"

export const layer = Layer.effect(
  LogStore,
  Effect.gen(function* () {
    const sql = yield* storeSql
    const counter = yield* ReceiptCounter
    const columns = sql.literal(RECEIPT_COLUMNS)

    return tracedStore(LogStore, {
      logs: sql<LogRow>`SELECT * FROM receipt_logs ORDER BY number`.all(toLog),

      begin: (log) =>
        sql`
          INSERT INTO receipt_logs (number, origin, public_key, salt_key, size, root, checkpoint, statement)
          VALUES (${log.number}, ${log.origin}, ${log.publicKey}, ${log.saltKey}, 0, ${log.root}, ${log.checkpoint},
            ${log.statement ?? null})
          ON CONFLICT (number) DO NOTHING RETURNING number`.hasRows,

      lock: sql<LogRow>`
        SELECT * FROM receipt_logs WHERE number = (SELECT max(number) FROM receipt_logs)
        FOR UPDATE SKIP LOCKED`.first(toLog),

      stop: (log, reason, signedNote) =>
        sql`UPDATE receipt_logs SET stopped = ${reason}, signed_note = ${signedNote} WHERE number = ${log}`.done,

      waiting: sql<{ readonly waiting: boolean }>`SELECT EXISTS (SELECT 1 FROM receipts_unlogged) AS waiting`.one(
        ({ waiting }) => waiting
      ),

      /**
       * Waiting receipts in the order of their ids, which is nearly chronological. A receipt that has a position keeps
       * it. Only what is counted is taken.
       */
      take: Effect.fnUntraced(function* (limit) {
        yield* counter.count
        const rows = yield* sql<{ readonly first_receipt: string }>`
          SELECT first_receipt FROM (
            SELECT first_receipt, sum(receipts) OVER (ROWS UNBOUNDED PRECEDING) - receipts AS receipts_before FROM (
              SELECT first_receipt, cardinality(receipt_ids) AS receipts FROM receipts_unlogged WHERE counted LIMIT ${limit}) w
          ) n WHERE receipts_before < ${limit}`
        const taken = yield* sql<{ readonly receipt_ids: ReadonlyArray<string> }>`
          DELETE FROM receipts_unlogged WHERE first_receipt = ANY (${rows.map((row) => row.first_receipt)}::uuid[])
          RETURNING receipt_ids`
        const ids = taken.flatMap((row) => row.receipt_ids)
        return yield* sql<ReceiptRow & { readonly origin: number }>`
          SELECT ${columns}, r.origin FROM receipts r
          LEFT JOIN receipt_log_places p ON p.receipt_id = r.receipt_id AND p.consumer_id = r.consumer_id
          WHERE r.receipt_id = ANY (${ids}::uuid[]) AND p.receipt_id IS NULL
          ORDER BY r.receipt_id`.all((row) => ({
          receipt: toReceipt(row),
          origin: originOfCode(row.origin),
          isFreeCall: row.origin === FREE_PROXY_CODE,
          cause: causeOfCode(row.status)
        }))
      }),

      append: Effect.fnUntraced(function* (batch) {
        const parts = columnsOf(batch.tiles.flatMap((tile) => changedParts(tile, batch.firstIndex)))
        const receipts = columnsOf(batch.receipts)
        yield* sql`
          INSERT INTO receipt_log_tiles (log, level, tile, part, hashes)
          SELECT ${batch.log}, p.level, p.tile, p.part, p.hashes FROM unnest(${parts.int2((part) => part.level)}, ${parts.int8((part) => part.index)},
            ${parts.int2((part) => part.part)}, ${parts.bytea((part) => part.hashes)}) AS p (level, tile, part, hashes)
          ON CONFLICT (log, level, tile, part) DO UPDATE SET hashes = excluded.hashes`
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

      tiles: Effect.fnUntraced(function* (log, places) {
        if (places.length === 0) return []
        const { int2, int8 } = columnsOf(places)
        return yield* sql<{ readonly level: number; readonly tile: bigint; readonly hashes: Uint8Array }>`
          SELECT a.level, a.tile, t.hashes
          FROM unnest(${int2((place) => place.level)}, ${int8((place) => place.index)}) AS a (level, tile)
          CROSS JOIN LATERAL (${wholeTile(sql, sql`part.log = ${log} AND part.level = a.level AND part.tile = a.tile`)}) t
          WHERE t.hashes IS NOT NULL`.all(({ hashes, level, tile }) => ({ level, index: Number(tile), hashes }))
      }),

      find: (id) =>
        sql<LogRow & ReceiptRow & { readonly leaf: bigint; readonly hashes: Uint8Array }>`
          SELECT ${columns}, l.*, p.leaf, t.hashes FROM receipt_log_places p
          JOIN receipts r ON r.receipt_id = p.receipt_id AND r.consumer_id = p.consumer_id
          JOIN receipt_logs l ON l.number = p.log
          CROSS JOIN LATERAL (
            ${wholeTile(sql, sql`part.log = p.log AND part.level = 0 AND part.tile = p.leaf / ${TILE_WIDTH}`)}
          ) t
          WHERE ${hasReceiptId(sql, "p.receipt_id", id)}`.first((row) => {
          const index = Number(row.leaf)
          return { receipt: toReceipt(row), index, log: toLog(row), tile: { ...leafTile(index), hashes: row.hashes } }
        }),

      scan: (after, limit) =>
        sql<ReceiptRow & { readonly log: number | null; readonly leaf: bigint | null }>`
          SELECT ${columns}, p.log, p.leaf FROM receipts r
          LEFT JOIN receipt_log_places p ON p.receipt_id = r.receipt_id AND p.consumer_id = r.consumer_id
          WHERE r.receipt_id > ${after === undefined ? BEFORE_ALL : uuidOfReceipt(after)}
          ORDER BY r.receipt_id LIMIT ${limit}`.all((row) => ({
          receipt: toReceipt(row),
          place: row.log === null || row.leaf === null ? undefined : { log: row.log, index: Number(row.leaf) }
        }))
    })
  })
).pipe(Layer.provide(ReceiptCounter.layer))

/** The hashes of a tile without parts are null. */
const wholeTile = (sql: StoreSql, isOfTile: Statement.Fragment) =>
  sql`SELECT string_agg(part.hashes, '' ORDER BY part.part) AS hashes FROM receipt_log_tiles part WHERE ${isOfTile}`

/** The parts of a tile that the leaves from `firstIndex` on have changed. */
const changedParts = ({ hashes, index, level }: Tile, firstIndex: number) => {
  const before = isEdge({ index, level }, firstIndex) ? partialWidth(level, firstIndex) : 0
  const parts = []
  for (let part = Math.floor(before / PART_WIDTH); part * PART_BYTES < hashes.length; part++) {
    parts.push({ level, index, part, hashes: hashes.subarray(part * PART_BYTES, (part + 1) * PART_BYTES) })
  }
  return parts
}

const isEdge = (place: TilePlace, size: number): boolean =>
  edgeOf(size).some(({ index, level }) => index === place.index && level === place.level)

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
