/**
 * The query of a request as plain text by name. Unknown parameters are rejected: if a misspelled filter were ignored, the
 * response would show everything.
 */
import { Effect } from "effect"
import { BadRequest, FAULTS_MAX, ValidationFailed } from "./Failures.ts"
import { unknownName } from "./KnownFields.ts"

export type QueryValues = Readonly<Record<string, string>>

/** Campaign parameters that other sites append to links. */
const IGNORED = /^utm_/u

/** Each parameter at most once: a repeated one is ambiguous. `known` undefined: a page takes any parameter. */
export const parseQuery = (
  query: string,
  known: ReadonlySet<string> | undefined
): Effect.Effect<QueryValues, BadRequest | ValidationFailed> => {
  if (query === "") return Effect.succeed({})
  const values: Record<string, string> = {}
  const unknown = new Set<string>()
  let doubled: string | undefined
  for (const [name, value] of new URLSearchParams(query)) {
    if (IGNORED.test(name)) continue
    if (known?.has(name) === false) unknown.add(name)
    else if (Object.hasOwn(values, name)) doubled ??= name
    else Object.defineProperty(values, name, { value, enumerable: true })
  }
  if (unknown.size > 0) {
    const faults = [...unknown]
      .slice(0, FAULTS_MAX)
      .map((name) => ({ path: [name], message: unknownName("query parameter", name, known!) }))
    return Effect.fail(new ValidationFailed({ faults }))
  }
  if (doubled !== undefined) {
    return Effect.fail(new BadRequest({ reason: `\`${doubled}\` is there more than once. Send it once.` }))
  }
  return Effect.succeed(values)
}
