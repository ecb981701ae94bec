/**
 * The query of a request as plain text by name.
 */
import { Effect } from "effect"
import { BadRequest } from "./Failures.ts"

/** Each parameter once: of a doubled one nobody can tell which was meant. */
export const parseQuery = (query: string): Effect.Effect<Readonly<Record<string, string>>, BadRequest> => {
  if (query === "") return Effect.succeed({})
  const values: Record<string, string> = {}
  for (const [name, value] of new URLSearchParams(query)) {
    if (Object.hasOwn(values, name)) return Effect.fail(new BadRequest({ reason: `${name}: given more than once` }))
    Object.defineProperty(values, name, { value, enumerable: true })
  }
  return Effect.succeed(values)
}
