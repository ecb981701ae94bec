/**
 * Batches as parameters: one array per column, or rows of a composite type.
 */
import { PgTypes } from "@effect/sql-pg"
import { Result } from "effect"

export const { OID } = PgTypes

/** `elementOid` is the type of the elements. Null is a column that no row of the batch needs. */
export const column = (values: ReadonlyArray<unknown> | null, elementOid: number): PgTypes.Parameter =>
  Result.getOrThrow(PgTypes.array(values, elementOid))

/** Builds the columns of a batch from its rows. */
export const columnsOf = <A>(rows: ReadonlyArray<A>) => {
  const typed =
    <V>(oid: number) =>
    (of: (row: A) => V): PgTypes.Parameter =>
      column(rows.map(of), oid)
  return {
    uuid: typed<string | null>(OID.uuid),
    text: typed<string | null>(OID.text),
    bool: typed<boolean>(OID.bool),
    int2: typed<number>(OID.int2),
    int4: typed<number | null>(OID.int4),
    int8: (of: (row: A) => bigint | number | null): PgTypes.Parameter =>
      column(
        rows.map((row) => {
          const value = of(row)
          return value === null ? null : BigInt(value)
        }),
        OID.int8
      ),
    timestamptz: typed<Date | number | null>(OID.timestamptz),
    bytea: typed<Uint8Array>(OID.bytea)
  }
}

// Rows of a composite type as parameters, in text. The server infers the type from the function that takes them. It reads
// a row in 4 us; from JSON it takes 16 us.

export type Field = string | number | bigint | boolean | null | undefined

/** One row. */
export const record = (fields: ReadonlyArray<Field>): string =>
  rowOf(fields, '"', (text) => text.replace(/["\\]/gu, "\\$&"))

/** An array of rows: what is special in a row is escaped again. */
export const records = (rows: ReadonlyArray<ReadonlyArray<Field>>): string =>
  `{${rows.map((fields) => `"${rowOf(fields, '\\"', escapedTwice)}"`).join(",")}}`

const escapedTwice = (text: string): string =>
  text.replace(/["\\]/gu, (character) => (character === "\\" ? "\\\\\\\\" : '\\\\\\"'))

export const bytes = (hex: string | undefined): Field => (hex === undefined ? null : `\\x${hex}`)

const PLAIN = /^[\w.:+-]+$/u

/** Joined once: a text that grows by each field would be three times as many allocations. */
const rowOf = (fields: ReadonlyArray<Field>, quote: string, escaped: (text: string) => string): string => {
  const row = fields.map((field) =>
    typeof field === "string" && !PLAIN.test(field) ? quote + escaped(field) + quote : field
  )
  return `(${row.join(",")})`
}
