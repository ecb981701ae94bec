/**
 * Values of the domain as responses have them. Names are those of the domain in snake case, times are in ISO 8601, and totals are
 * JSON numbers.
 */
import { DateTime, String as Text } from "effect"
import { formatDollars, toCents } from "../../../domain/shared/Microcents.ts"
import { format } from "../../../domain/shared/Time.ts"

type SnakeCase<Name extends string> = Name extends `${infer First}${infer Rest}`
  ? `${First extends Lowercase<First> ? First : `_${Lowercase<First>}`}${SnakeCase<Rest>}`
  : Name

type Shown<Value> = Value extends bigint ? number : Value extends DateTime.Utc ? string : Value

type Fields<Of, Name extends keyof Of & string> = {
  readonly [N in Name as SnakeCase<N>]: undefined extends Of[N] ? Shown<Exclude<Of[N], undefined>> | null : Shown<Of[N]>
}

const shown = (value: unknown): unknown =>
  typeof value === "bigint" ? Number(value) : DateTime.isDateTime(value) ? format(DateTime.toUtc(value)) : value

/** These fields of a value, in this order. One that is absent is `null`. */
export const fieldsOf = <Of extends object, const Name extends keyof Of & string>(
  value: Of,
  ...names: ReadonlyArray<Name>
): Fields<Of, Name> =>
  Object.fromEntries(names.map((name) => [Text.camelToSnake(name), shown(value[name] ?? null)])) as Fields<Of, Name>

/** An amount in cents and in microcents. */
export const amountsOf = <const Name extends string>(name: Name, microcents: bigint) =>
  ({ [`${name}_cents`]: toCents(microcents), [`${name}_microcents`]: Number(microcents) }) as Readonly<
    Record<`${Name}_cents` | `${Name}_microcents`, number>
  >

/** An amount in cents, in microcents and as display text. */
export const shownAmountsOf = <const Name extends string>(name: Name, microcents: bigint) => ({
  ...amountsOf(name, microcents),
  ...({ [name]: formatDollars(microcents) } as Readonly<Record<Name, string>>)
})

/** Says whether an account is frozen, since when, and why. */
export const freezeOf = (freeze: { readonly at: DateTime.Utc; readonly reason: string } | undefined) => ({
  frozen: freeze !== undefined,
  frozen_reason: freeze?.reason ?? null,
  frozen_at: freeze === undefined ? null : format(freeze.at)
})
