/**
 * Reads rows as values of the domain by one rule: a column in snake case is the field of that name in camel case, null is
 * undefined, and a time is an instant. The column types are as strict as the brands, so values are not validated again.
 * For queries of up to some hundred rows: a function that names each field reads many rows faster.
 */
import { String as Text } from "effect"
import { toInstant } from "./Instants.ts"

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
