/**
 * Old months of receipts in files: `<folder>/<month>` has a manifest, and gzipped CSV files of up to 10,000 receipts and their
 * places in the log, in the order of their ids. The database keeps the manifest in `receipt_archives`, which proves the files,
 * and in `archived_totals` what the receipts add up to by account and lot. The name of a file has its hash: no other content ever
 * replaces what a manifest names.
 */
import { Context, DateTime, Effect, Schema } from "effect"
import type { Statement } from "effect/sql"
import { createHash, randomUUID } from "node:crypto"
import { mkdir, open, readFile, rename, writeFile } from "node:fs/promises"
import { basename, dirname, join } from "node:path"
import { promisify } from "node:util"
import { gunzip, gzip } from "node:zlib"
import type { MonthSpan } from "../../../domain/invoices/Invoice.ts"
import { feeOf } from "../../../domain/ledger/PlatformFee.ts"
import { MARKET_OWNER } from "../../../domain/ledger/Transfer.ts"
import { ACCOUNT_CODE, NO_LOT, receiptOfUuid } from "../ledger/LedgerCodes.ts"
import { earned } from "../ledger/PostgresLedgerStore.ts"
import { toDate } from "../shared/Rows.ts"
import type { StoreSql } from "../shared/StoreSql.ts"

/** Where a node finds the files; undefined: nowhere. */
export class ArchiveFolder extends Context.Service<ArchiveFolder, string | undefined>()(
  "agent-tool-billing/adapters/sql/receipts/ArchiveFolder"
) {}

/** An archive cannot be written, read or undone. */
export class ArchiveUnusable extends Schema.TaggedError<ArchiveUnusable>()("ArchiveUnusable", {
  problem: Schema.String
}) {
  override get message() {
    return this.problem
  }
}

const unusable = (problem: string) => new ArchiveUnusable({ problem })

const RECEIPTS_PER_FILE = 10_000

/** Locks the transaction that moves receipts. */
const LOCK = 4_700_039

interface ArchiveFile {
  readonly name: string
  readonly first: string
  readonly last: string
  readonly sha256: string
}

interface Manifest {
  readonly version: 1
  readonly month: string
  readonly receipts: number
  readonly cost: string
  readonly fee: string
  readonly files: ReadonlyArray<ArchiveFile>
}

/** A receipt and its place, by column: as JSON of PostgreSQL in the database, as texts in a file. */
export type Line = Readonly<Record<string, string | null>>

const quoted = (value: number | string | null): string =>
  value === null ? "" : /[",\r\n]|^$/u.test(String(value)) ? `"${String(value).replaceAll('"', '""')}"` : String(value)

const toCsv = (lines: ReadonlyArray<Line>): string =>
  [Object.keys(lines[0]!), ...lines.map(Object.values<string | null>)]
    .map((cells) => `${cells.map(quoted).join(",")}\n`)
    .join("")

/** Empty cells are null, `""` is an empty text. */
const fromCsv = (text: string): ReadonlyArray<Line> => {
  const rows: Array<Array<string | null>> = [[]]
  for (const [, inQuotes, plain, end] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))([,\n])/gu)) {
    rows.at(-1)!.push(inQuotes?.replaceAll('""', '"') ?? (plain === "" ? null : plain!))
    if (end === "\n") rows.push([])
  }
  const [names, ...cells] = rows.slice(0, -1)
  return cells.map((row) => Object.fromEntries(row.map((cell, at) => [names![at]!, cell])))
}

const onDisk = <A>(work: () => Promise<A>) =>
  Effect.tryPromise({ try: work, catch: (cause) => unusable(String(cause)) })

/** Another writer finds the old file or this one. */
const write = Effect.fnUntraced(function* (path: string, content: Uint8Array | string) {
  const unnamed = `${path}.${randomUUID()}.new`
  yield* onDisk(() => writeFile(unnamed, content, { flush: true }))
  yield* onDisk(() => rename(unnamed, path))
})

/** The names of files in a folder outlive a power failure from then on. */
const persist = (folder: string) =>
  onDisk(async () => {
    const directory = await open(folder)
    await directory.sync().finally(() => directory.close())
  })

const hashOf = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex")

/** The lines of a file that is as it was written. */
const linesOf = Effect.fnUntraced(function* (folder: string, month: string, { name, sha256 }: ArchiveFile) {
  const path = join(folder, month, name)
  const bytes = yield* onDisk(() => readFile(path))
  if (hashOf(bytes) !== sha256) return yield* unusable(`${path} was changed.`)
  return fromCsv((yield* onDisk(() => promisify(gunzip)(bytes))).toString())
})

const inMonth = (sql: StoreSql, { end, start }: MonthSpan) =>
  sql`created_at >= ${toDate(start)} AND created_at < ${toDate(end)}`

/** Writes the files of a month; the manifest last. */
const writeMonth = Effect.fnUntraced(function* (sql: StoreSql, folder: string, span: MonthSpan) {
  yield* onDisk(() => mkdir(join(folder, span.month), { recursive: true }))
  const files: Array<ArchiveFile> = []
  let [receipts, cost, fee] = [0, 0n, 0n]
  while (true) {
    const lines = yield* sql<{ readonly line: string }>`
      SELECT row_to_json(x)::text AS line FROM (
        SELECT r.*, p.log, p.leaf FROM (
          SELECT * FROM receipts WHERE ${inMonth(sql, span)} AND receipt_id > ${files.at(-1)?.last ?? MARKET_OWNER}::uuid
          ORDER BY receipt_id LIMIT ${RECEIPTS_PER_FILE}
        ) r LEFT JOIN receipt_log_places p ON p.receipt_id = r.receipt_id AND p.consumer_id = r.consumer_id
        ORDER BY r.receipt_id
      ) x`.unprepared.all(({ line }) => JSON.parse(line) as Line)
    if (lines.length === 0) break
    if (lines.some(({ log }) => log === null))
      return yield* unusable(`Receipts of ${span.month} are not in the log yet.`)
    for (const line of lines) [cost, fee] = [cost + BigInt(line["cost"]!), fee + BigInt(line["fee"]!)]
    receipts += lines.length
    const bytes = yield* onDisk(() => promisify(gzip)(toCsv(lines)))
    const sha256 = hashOf(bytes)
    const name = `receipts-${String(files.length + 1).padStart(5, "0")}-${sha256.slice(0, 12)}.csv.gz`
    yield* write(join(folder, span.month, name), bytes)
    const [first, last] = [lines[0]!["receipt_id"]!, lines.at(-1)!["receipt_id"]!]
    files.push({ name, first, last, sha256 })
  }
  if (receipts === 0) return yield* unusable(`There are no receipts of ${span.month}.`)
  const manifest: Manifest = { version: 1, month: span.month, receipts, cost: `${cost}`, fee: `${fee}`, files }
  yield* write(join(folder, span.month, "manifest.json"), `${JSON.stringify(manifest, undefined, 2)}\n`)
  yield* Effect.forEach([join(folder, span.month), folder, dirname(folder)], persist)
  return manifest
})

/** What the files of a month add up to, as rows of `archived_totals`, and what is wrong with them. */
const readMonth = Effect.fnUntraced(function* (folder: string, { files, month, receipts }: Manifest) {
  const { platform_fee, provider, wallet } = ACCOUNT_CODE
  const totals = new Map<string, readonly [credits: bigint, debits: bigint, transfers: bigint]>()
  const add = (key: string, credits: bigint, debits: bigint, transfers: bigint) => {
    const [c, d, t] = totals.get(key) ?? [0n, 0n, 0n]
    totals.set(key, [c + credits, d + debits, t + transfers])
  }
  const faults: Array<string> = []
  let found = 0
  for (const file of files) {
    for (const line of yield* linesOf(folder, month, file)) {
      found++
      const [cost, fee] = [BigInt(line["cost"]!), BigInt(line["fee"]!)]
      const named = Number.parseInt(line["receipt_id"]!.slice(-4), 16)
      if (named !== Number(line["fee_bps"]) || fee !== feeOf(cost, named)) {
        faults.push(`${receiptOfUuid(line["receipt_id"]!)} has another fee than its id.`)
      }
      if (fee > 0n) add(`${platform_fee} ${MARKET_OWNER} ${NO_LOT}`, fee, 0n, 1n)
      if (cost === 0n) continue
      const lot = DateTime.formatIsoDateUtc(DateTime.makeUnsafe(line["created_at"]!))
      add(`${wallet} ${line["consumer_id"]} ${NO_LOT}`, 0n, cost, 0n)
      add(`${provider} ${line["provider_id"]} ${lot}`, cost - fee, 0n, cost > fee ? 1n : 0n)
    }
  }
  if (found !== receipts) faults.push(`The files have ${found} receipts of ${receipts}.`)
  return { faults, totals: new Set([...totals].map(([key, amounts]) => [key, ...amounts].join(" "))) }
})

/** The totals that only the files or only the database has. */
const differences = (sql: StoreSql, month: string, totals: ReadonlySet<string>) =>
  sql<{ readonly total: string }>`
    SELECT concat_ws(' ', account, owner_id, lot, credits, debits, transfers) AS total
    FROM archived_totals WHERE month = ${month}`
    .all(({ total }) => total)
    .pipe(
      Effect.map((kept) =>
        [...totals.symmetricDifference(new Set(kept))].map((total) => `Files and kept totals differ: ${total}.`)
      )
    )

/**
 * Moves the receipts of a month to files, and returns their number. Files without moved rows may be left by a try that did not
 * reach its only transaction: the next one writes them again.
 */
export const archiveMonth = Effect.fnUntraced(function* (
  sql: StoreSql,
  folder: string,
  span: MonthSpan,
  at: DateTime.Utc
) {
  const { month } = span
  // A provider's own test calls have no invoice.
  const [found] = yield* sql<Readonly<Record<"is_archived" | "is_invoiced" | "is_covered" | "is_disputed", boolean>>>`
    SELECT EXISTS (SELECT 1 FROM receipt_archives WHERE month = ${month}) AS is_archived,
      EXISTS (SELECT 1 FROM invoice_months WHERE month = ${month} AND completed_at IS NOT NULL) AS is_invoiced,
      (SELECT count(*) FROM receipts WHERE consumer_id <> provider_id AND ${inMonth(sql, span)})
        = (SELECT coalesce(sum(calls), 0) FROM invoice_usage WHERE month = ${month}) AS is_covered,
      EXISTS (SELECT 1 FROM disputes WHERE status <= 2 AND to_char(settled_on, 'YYYY-MM') = ${month}) AS is_disputed`
  if (found!.is_archived) {
    return yield* unusable(`${month} is archived already, and has receipts. Put it back with \`archive --undo\` first.`)
  }
  if (!found!.is_invoiced) return yield* unusable(`${month} has no invoices yet. Run \`invoices ${month}\` first.`)
  if (!found!.is_covered) {
    return yield* unusable(`Receipts of ${month} are not invoiced yet. Run \`invoices ${month} --supplement\` first.`)
  }
  if (found!.is_disputed) return yield* unusable(`Calls of ${month} are disputed. Decide these disputes first.`)
  const manifest = yield* writeMonth(sql, folder, span)
  const { faults, totals } = yield* readMonth(folder, manifest)
  const { files, receipts } = manifest
  const move = Effect.gen(function* () {
    // Two commands at once: the second one finds the first one's archive.
    yield* sql`SELECT pg_advisory_xact_lock(${LOCK})`
    if (yield* sql`SELECT 1 FROM receipt_archives WHERE month = ${month}`.hasRows) {
      return yield* unusable(`${month} was archived meanwhile.`)
    }
    yield* sql`
      INSERT INTO archived_totals (month, account, owner_id, lot, credits, debits, transfers)
      SELECT ${month}, * FROM (
        SELECT account, owner_id, lot, credits, 0::int8, transfers FROM (${earned(sql, inMonth(sql, span))}) e
        UNION ALL
        SELECT ${ACCOUNT_CODE.wallet}::int2, consumer_id, ${NO_LOT}::date, 0, sum(cost)::int8, 0
        FROM receipts WHERE cost > 0 AND ${inMonth(sql, span)} GROUP BY consumer_id
      ) closed`.unprepared
    yield* sql`
      INSERT INTO receipt_archives (month, manifest, first_id, last_id, archived_at)
      VALUES (${month}, ${JSON.stringify(manifest)}, ${files[0]!.first}, ${files.at(-1)!.last}, ${toDate(at)})`
    // What is deleted is counted, not what was there before: another receipt may come between two statements.
    const places = yield* sql`
      WITH gone AS (
        DELETE FROM receipt_log_places WHERE (receipt_id, consumer_id) IN (
          SELECT receipt_id, consumer_id FROM receipts WHERE ${inMonth(sql, span)})
        RETURNING 1
      ) SELECT count(*) FROM gone`.unprepared.number
    const rows = yield* sql`
      WITH gone AS (DELETE FROM receipts WHERE ${inMonth(sql, span)} RETURNING 1) SELECT count(*) FROM gone`.unprepared
      .number
    if (places !== receipts || rows !== receipts) {
      faults.push(`The database has ${rows} receipts and ${places} places in the log, the files ${receipts}.`)
    }
    faults.push(...(yield* differences(sql, month, totals)))
    if (faults.length > 0) return yield* unusable(`${month}: ${faults.join(" ")}`)
  })
  yield* sql.withTransaction(move)
  return receipts
})

const archives = (sql: StoreSql, where: Statement.Fragment = sql`true`) =>
  sql<{ readonly manifest: string }>`SELECT manifest FROM receipt_archives WHERE ${where} ORDER BY month`.all(
    ({ manifest }) => JSON.parse(manifest) as Manifest
  )

/** Puts the receipts of the newest archived month back, and returns their number. */
export const restoreMonth = Effect.fnUntraced(function* (sql: StoreSql, path: string) {
  const newest = (yield* archives(sql)).at(-1)
  if (newest === undefined || basename(dirname(path)) !== newest.month) {
    return yield* unusable(`${path} is not in the folder of the newest archive: ${newest?.month ?? "there is none"}.`)
  }
  const put = Effect.gen(function* () {
    for (const file of newest.files) {
      const lines = JSON.stringify(yield* linesOf(dirname(dirname(path)), newest.month, file))
      for (const table of ["receipts", "receipt_log_places"]) {
        yield* sql`INSERT INTO ${sql(table)} SELECT * FROM json_populate_recordset(NULL::${sql(table)}, ${lines}::json)`
      }
    }
    yield* sql`DELETE FROM archived_totals WHERE month = ${newest.month}`
    yield* sql`DELETE FROM receipt_archives WHERE month = ${newest.month}`
  })
  yield* sql.withTransaction(put)
  return newest.receipts
})

/** What the files of all archives do not prove. Without a folder, that it is missing. */
export const archiveFaults = Effect.fnUntraced(function* (sql: StoreSql, folder: string | undefined) {
  const found = yield* Effect.forEach(yield* archives(sql), (manifest) =>
    folder === undefined
      ? Effect.succeed([`Receipts of ${manifest.month} are archived, and no folder of archives is given.`])
      : readMonth(folder, manifest).pipe(
          Effect.flatMap(({ faults, totals }) =>
            Effect.map(differences(sql, manifest.month, totals), (more) => [...faults, ...more])
          ),
          Effect.catchTag("ArchiveUnusable", ({ message }) => Effect.succeed([message])),
          Effect.map((faults) => faults.map((fault) => `${manifest.month}: ${fault}`))
        )
  )
  return found.flat()
})

/** The archived receipts, a file at a time. */
export const archivedFiles = (sql: StoreSql, folder: string) =>
  Effect.map(archives(sql), (all) =>
    all.flatMap(({ files, month }) => files.map((file) => linesOf(folder, month, file)))
  )

/** The receipt in an archive; or the month, where its files are not here. */
export const findArchived = Effect.fnUntraced(function* (sql: StoreSql, folder: string | undefined, id: string) {
  for (const { files, month } of yield* archives(sql, sql`first_id <= ${id}::uuid AND last_id >= ${id}::uuid`)) {
    const file = files.find(({ first, last }) => first <= id && id <= last)
    if (file === undefined) continue
    if (folder === undefined) return { month }
    const read = Effect.tapError(linesOf(folder, month, file), ({ message }) => Effect.logError(message))
    const lines = yield* Effect.orElseSucceed(read, () => undefined)
    if (lines === undefined) return { month }
    const line = lines.find((one) => one["receipt_id"] === id)
    if (line !== undefined) return { line }
  }
  return undefined
})
