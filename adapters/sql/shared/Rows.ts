/**
 * Values of rows: instants, which PostgreSQL keeps to the millisecond, whole rows, and the cursors of lists.
 */
import { DateTime, Option, Schema, String as Text } from "effect"
import { Uuid } from "../../../domain/shared/Ids.ts"
import type { PageRequest } from "../../../domain/shared/Page.ts"

export const toDate = (instant: DateTime.Utc): Date => DateTime.toDate(instant)

export const toDateOrNull = (instant: DateTime.Utc | undefined): Date | null =>
  instant === undefined ? null : DateTime.toDate(instant)

export const toInstant = (date: Date): DateTime.Utc => DateTime.makeUnsafe(date.getTime())

export const toInstantOrUndefined = (date: Date | null): DateTime.Utc | undefined =>
  date === null ? undefined : toInstant(date)

// Reads rows as values of the domain by one rule: a column in snake case is the field of that name in camel case, null is
// undefined, and a time is an instant. The column types are as strict as the brands, so values are not validated again.
// For queries of up to some hundred rows: a function that names each field reads many rows faster.

/**
 * The statement returns the columns of `A` and no others. `names`: of fields that are called differently than their
 * columns. `conversions`: of columns whose values differ from those of the fields, such as codes and int8 as number.
 */
export const rowReader = <A extends object>(
  names: Readonly<Record<string, keyof A & string>> = {},
  conversions: Readonly<Record<string, (value: never) => unknown>> = {}
): ((row: object) => A) => {
  const fields = new Map<string, string>(Object.entries(names))
  const fieldOf = (column: string): string => {
    const known = fields.get(column)
    if (known !== undefined) return known
    const field = Text.snakeToCamel(column)
    fields.set(column, field)
    return field
  }
  const valueOf = (column: string, value: unknown): unknown => {
    if (value === null) return undefined
    const conversion = conversions[column]
    if (conversion !== undefined) return conversion(value as never)
    return value instanceof Date ? toInstant(value) : value
  }
  return (row) => {
    const made: Record<string, unknown> = {}
    for (const [column, value] of Object.entries(row)) made[fieldOf(column)] = valueOf(column, value)
    return made as A
  }
}

// Pages of SQL lists, newest first, and totals that do not read a whole table. A cursor comes from the client: an invalid
// one starts at the beginning.

const NEWEST = "ffffffff-ffff-ffff-ffff-ffffffffffff"
const LATEST = DateTime.toDate(DateTime.makeUnsafe("9999-12-31T00:00:00.000Z"))

const uuidIn = Schema.decodeUnknownOption(Uuid)

/** The id before which a page begins, in the order of ids that grow with time. */
export const beginsBefore = ({ after }: PageRequest): string => Option.getOrElse(uuidIn(after?.id), () => NEWEST)

/** The time and the id before which a page begins, in the order of times. */
export const beginsBeforeTime = (page: PageRequest): { readonly at: Date; readonly id: string } => {
  const at = timeIn(page)
  return at === undefined ? { at: LATEST, id: NEWEST } : { at, id: beginsBefore(page) }
}

export const timeIn = ({ after }: PageRequest): Date | undefined => {
  const at = Option.getOrUndefined(Option.map(DateTime.make(after?.key ?? ""), DateTime.toDate))
  return at === undefined || at > LATEST || at.getUTCFullYear() < 1 ? undefined : at
}

// PostgreSQL stores neither NUL nor unpaired surrogates, and rejects a query with them: no row can match such a text.

export const isStorable = (text: string): boolean => text.isWellFormed() && !text.includes("\0")
