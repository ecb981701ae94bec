/**
 * Rows as text parameters: every value that goes in comes out of PostgreSQL as it was.
 */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { type Field, record, records } from "../../../adapters/sql/shared/Columns.ts"
import { postgresPorts } from "../../contracts/ports.ts"
import { LIVE } from "../../support/servers/PostgresTest.ts"

interface Row {
  readonly a: string | null
  readonly b: string | null
  readonly c: bigint | null
  readonly d: boolean | null
}

const SPECIAL = [
  "",
  "NULL",
  "null",
  '"',
  "\\",
  '\\"',
  '""',
  ",",
  "()",
  "{}",
  "a,b",
  " ",
  " a ",
  "\n",
  "\t",
  "'",
  "🙂",
  "\\x00"
]

/** Every pair of them: side by side in a row, and joined in one text. */
const ROWS: ReadonlyArray<Row> = SPECIAL.flatMap((a, n) => [
  { a, b: null, c: null, d: null },
  ...SPECIAL.map((b, m): Row => ({ a, b, c: BigInt(n - m) * 2n ** 58n, d: n > m })),
  ...SPECIAL.map((b): Row => ({ a: null, b: `${a}${b}`, c: -(2n ** 63n), d: null }))
])

const fieldsOf = ({ a, b, c, d }: Row): ReadonlyArray<Field> => [a, b, c, d]

it.layer(postgresPorts, LIVE)("Rows as parameters", (it) => {
  it.effect("arrive unchanged, alone and in arrays", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      yield* sql`CREATE TYPE sample AS (a text, b text, c int8, d boolean)`
      const many = yield* sql<Row>`SELECT a, b, c, d FROM unnest(${records(ROWS.map(fieldsOf))}::sample[])`
      assert.deepStrictEqual(many, ROWS)
      const alone = yield* Effect.forEach(
        ROWS,
        (row) => sql<Row>`SELECT (r).* FROM (SELECT ${record(fieldsOf(row))}::sample AS r) x`
      )
      assert.deepStrictEqual(alone.flat(), ROWS)
    })
  )
})
