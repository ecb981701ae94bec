/**
 * Lists of all accounts in PostgreSQL. Each way to search has an index; a list without a search follows the primary key.
 */
import { Effect, Layer, Schema } from "effect"
import type { Consumer } from "../../../domain/accounts/Account.ts"
import { AccountSearch } from "../../../domain/operator/AccountSearch.ts"
import { Uuid } from "../../../domain/shared/Ids.ts"
import { COUNTED_MAX, pageOf } from "../../../domain/shared/Page.ts"
import { type FrozenRow, PROVIDER_COLUMNS, toProvider } from "../accounts/ProviderRows.ts"
import { isStorable } from "../shared/StorableText.ts"
import { beginsBefore } from "../shared/NewestFirst.ts"
import { rowReader } from "../shared/RowReader.ts"
import { storeSql } from "../shared/StoreSql.ts"

const toConsumer = rowReader<Consumer>({ default_cap_microcents: "defaultCap" })

const isUuid = Schema.is(Uuid)

/** As a pattern of LIKE. */
const beginningWith = (search: string): string => `${search.toLowerCase().replaceAll(/[\\%_]/gu, "\\$&")}%`

export const layer = Layer.effect(
  AccountSearch,
  Effect.gen(function* () {
    const sql = yield* storeSql

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

    return AccountSearch.of({
      consumers: Effect.fn("PostgresAccountSearch.consumers")(function* (search, page) {
        const where = asked(search, "consumers")
        const total = yield* sql<{ readonly total: bigint }>`
          SELECT count(*) AS total FROM (SELECT FROM consumers WHERE ${where} LIMIT ${COUNTED_MAX}) counted`.unprepared.one(
          (row) => Number(row.total)
        )
        const rows = yield* sql`
          SELECT * FROM consumers WHERE ${where} AND id < ${beginsBefore(page)}
          ORDER BY id DESC LIMIT ${page.limit + 1} OFFSET ${page.offset}`.unprepared.all(toConsumer)
        return pageOf(rows, page.limit, total, ({ id }) => ({ key: "", id }))
      }),

      providers: Effect.fn("PostgresAccountSearch.providers")(function* (search, page) {
        const where = asked(search, "providers")
        const total = yield* sql<{ readonly total: bigint }>`
          SELECT count(*) AS total FROM (SELECT FROM providers WHERE ${where} LIMIT ${COUNTED_MAX}) counted`.unprepared.one(
          (row) => Number(row.total)
        )
        const rows = yield* sql<FrozenRow>`
          SELECT ${sql.literal(PROVIDER_COLUMNS)} FROM providers WHERE ${where} AND id < ${beginsBefore(page)}
          ORDER BY id DESC LIMIT ${page.limit + 1} OFFSET ${page.offset}`.unprepared.all(toProvider)
        return pageOf(rows, page.limit, total, ({ id }) => ({ key: "", id }))
      }),

      consumersOf: Effect.fn("PostgresAccountSearch.consumersOf")((ids) =>
        sql`SELECT * FROM consumers WHERE id = ANY (${ids}::uuid[])`.all(toConsumer)
      ),

      providersOf: Effect.fn("PostgresAccountSearch.providersOf")((ids) =>
        sql<FrozenRow>`
          SELECT ${sql.literal(PROVIDER_COLUMNS)} FROM providers WHERE id = ANY (${ids}::uuid[])`.all(toProvider)
      )
    })
  })
)
