/** Arrays as parameters: one column of a batch each. */
import { PgTypes } from "@effect/sql-pg"
import { Result } from "effect"

export const { OID } = PgTypes

/** `elementOid` is the type of the elements; null is a column that no row of the batch needs. */
export const column = (values: ReadonlyArray<unknown> | null, elementOid: number): PgTypes.Parameter =>
  Result.getOrThrow(PgTypes.array(values, elementOid))
