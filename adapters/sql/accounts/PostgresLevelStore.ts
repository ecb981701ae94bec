/**
 * The levels of accounts in PostgreSQL. A level names those above it, so that all below it are found by one index.
 */
import { type DateTime, Effect, Layer } from "effect"
import { type Level, LevelStore, type RunWithOwner } from "../../../domain/accounts/Levels.ts"
import { COUNTED_MAX } from "../../../domain/shared/Page.ts"
import { rowReader, toDate, toDateOrNull } from "../shared/Rows.ts"
import { pageById, storeSql } from "../shared/StoreSql.ts"

const COLUMNS =
  "level_id, consumer_id, kind, path, label, scopes, rate_limit_rpm, max_price_microcents, allowed_tools, allowed_providers, " +
  "allowed_categories, created_at, expires_at, disabled_at, ended_at"

const toLevel = rowReader<Level>({ level_id: "id", max_price_microcents: "maxPrice" })

interface RunRow {
  readonly owner_name: string
  readonly owner_rate_limit_rpm: number
  readonly default_cap_microcents: RunWithOwner["defaultCap"] | null
}

const toRun = ({ default_cap_microcents, owner_name, owner_rate_limit_rpm, ...level }: RunRow): RunWithOwner => ({
  run: toLevel(level),
  ownerName: owner_name,
  rateLimitRpm: owner_rate_limit_rpm,
  defaultCap: default_cap_microcents ?? undefined
})

export const layer = Layer.effect(
  LevelStore,
  Effect.gen(function* () {
    const sql = yield* storeSql
    const columns = sql.literal(`l.${COLUMNS.replaceAll(", ", ", l.")}`)
    const listOf = (names: ReadonlyArray<string> | undefined) => sql`${names ?? null}::text[]`
    const boundsOf = (level: Level) => sql`${level.label}, ${listOf(level.scopes)}, ${level.rateLimitRpm ?? null}::int4,
      ${level.maxPrice ?? null}::int8, ${listOf(level.allowedTools)}, ${listOf(level.allowedProviders)},
      ${listOf(level.allowedCategories)}, ${toDateOrNull(level.expiresAt)}::timestamptz,
      ${toDateOrNull(level.disabledAt)}::timestamptz`
    const bounds = sql.literal(
      "label, scopes, rate_limit_rpm, max_price_microcents, allowed_tools, allowed_providers, allowed_categories, expires_at, " +
        "disabled_at"
    )
    const isLiveRun = (now: DateTime.Utc) =>
      sql`l.kind = 'run' AND l.ended_at IS NULL AND l.expires_at > ${toDate(now)}`

    return LevelStore.of({
      insert: Effect.fn("PostgresLevelStore.insert")(
        (level, keyHash) => sql`
          INSERT INTO levels (level_id, consumer_id, kind, path, hash, created_at, ended_at, ${bounds})
          SELECT ${level.id}::uuid, ${level.consumerId}::uuid, ${level.kind}, ${level.path}::uuid[],
            decode(${keyHash ?? null}, 'hex'), ${toDate(level.createdAt)}::timestamptz,
            ${toDateOrNull(level.endedAt)}::timestamptz, ${boundsOf(level)}`,
        Effect.asVoid
      ),

      find: Effect.fn("PostgresLevelStore.find")((consumerId, id) =>
        sql`SELECT ${columns} FROM levels l WHERE l.level_id = ${id} AND l.consumer_id = ${consumerId}`.first(toLevel)
      ),

      findRun: Effect.fn("PostgresLevelStore.findRun")((keyHash) =>
        sql<RunRow>`
          SELECT ${columns}, c.name AS owner_name, c.rate_limit_rpm AS owner_rate_limit_rpm, c.default_cap_microcents
          FROM levels l JOIN consumers c ON c.id = l.consumer_id WHERE l.hash = decode(${keyHash}, 'hex')`.first(toRun)
      ),

      pathOf: Effect.fn("PostgresLevelStore.pathOf")((id) =>
        sql`SELECT ${columns} FROM levels b JOIN levels l ON l.level_id = ANY (b.path)
          WHERE b.level_id = ${id} ORDER BY cardinality(l.path)`.all(toLevel)
      ),

      update: Effect.fn("PostgresLevelStore.update")(
        (level) => sql`UPDATE levels SET (${bounds}) = ROW (${boundsOf(level)}) WHERE level_id = ${level.id}`,
        Effect.asVoid
      ),

      end: Effect.fn("PostgresLevelStore.end")((consumerId, id, at) => {
        const below = sql`consumer_id = ${consumerId} AND path @> ARRAY[${id}]::uuid[]`
        return Effect.asVoid(
          Effect.andThen(
            sql`UPDATE api_keys SET revoked_at = LEAST(revoked_at, ${toDate(at)})
              WHERE level_id IN (SELECT level_id FROM levels WHERE ${below})`,
            sql`UPDATE levels SET ended_at = ${toDate(at)} WHERE ${below} AND ended_at IS NULL`
          )
        )
      }),

      runsBelow: Effect.fn("PostgresLevelStore.runsBelow")((consumerId, id, limit) =>
        sql`SELECT ${columns} FROM levels l
          WHERE l.consumer_id = ${consumerId} AND l.path @> ARRAY[${id}]::uuid[] AND l.kind = 'run' AND l.level_id <> ${id}
          ORDER BY l.created_at, l.level_id LIMIT ${limit}`.all(toLevel)
      ),

      runs: Effect.fn("PostgresLevelStore.runs")(function* (consumerId, below, page) {
        const where = sql.and([
          sql`consumer_id = ${consumerId} AND kind = 'run'`,
          ...(below === undefined ? [] : [sql`path @> ARRAY[${below}]::uuid[]`])
        ])
        const read = (row: object) => toLevel(row)
        return yield* pageById(sql, page, {
          table: "levels",
          columns: COLUMNS,
          id: "level_id",
          where,
          read,
          countedMax: COUNTED_MAX
        })
      }),

      liveRuns: Effect.fn("PostgresLevelStore.liveRuns")(
        (consumerId, now) =>
          sql`SELECT count(*) FROM levels l WHERE l.consumer_id = ${consumerId} AND ${isLiveRun(now)}`.number
      ),

      erase: Effect.fn("PostgresLevelStore.erase")(
        (consumerId, at) => sql`
          UPDATE levels SET label = '', ended_at = COALESCE(ended_at, ${toDate(at)}) WHERE consumer_id = ${consumerId}`,
        Effect.asVoid
      )
    })
  })
)
