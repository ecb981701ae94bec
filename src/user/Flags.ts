/**
 * Flags and arguments that several commands of users have.
 */
import { Console, Effect, Option } from "effect"
import { Flag } from "effect/cli"
import { parseDollars } from "../../domain/shared/Microcents.ts"
import { failed } from "./CommandFailure.ts"
import { safeJson } from "./SafeText.ts"

export const json = Flag.Boolean("json").pipe(
  Flag.withDescription("Print the API's response as JSON, and failures as JSON on stderr"),
  Flag.withDefault(false),
  Flag.withoutNegation
)

export const limit = Flag.Int("limit").pipe(Flag.withDescription("Items per page, at most 100"), Flag.withDefault(20))

export const cursor = Flag.String("cursor").pipe(Flag.withDescription("Where the next page begins"), Flag.optional)

/** Undefined for none: the client leaves such parameters out. */
export const given = <A>(option: Option.Option<A>): A | undefined => Option.getOrUndefined(option)

export const dollars = (name: string, text: string) => {
  const amount = parseDollars(text)
  return amount === undefined
    ? Effect.fail(failed("invalid", `${name} must be an amount in dollars, such as 0.25; "${text}" was given.`))
    : Effect.succeed(Number(amount))
}

/** For programs the response as it is, for people `text`. */
export const shown = (asJson: boolean, value: unknown, text: () => string) =>
  Console.log(asJson ? safeJson(value) : text())

/** After a list that has more pages. */
export const moreAfter = (page: { readonly next_cursor: string | null; readonly total: number }) =>
  page.next_cursor === null
    ? Effect.void
    : Console.error(`There are ${page.total} in all. Next page: --cursor ${page.next_cursor}`)
