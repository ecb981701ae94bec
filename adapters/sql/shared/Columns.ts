/**
 * Batches as parameters: one array per column.
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
