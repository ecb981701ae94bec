/**
 * Adds members to JSON objects that are passed on: the object's other members stay byte for byte.
 */
import { memberOf, membersWithout } from "../shared/JsonText.ts"

/** The object with these members, given as JSON texts, instead of its own of the same names. */
export const withMembers = (object: string, set: Readonly<Record<string, string>>): string => {
  const names = Object.keys(set)
  const members = membersWithout(object, names)
  for (const name of names) members.push(`${JSON.stringify(name)}:${set[name]!}`)
  return `{${members.join(",")}}`
}

/** The object with these members in its `_meta`, instead of those of the same names that its author wrote there. */
export const withMeta = (object: string, set: Readonly<Record<string, string>>): string =>
  withMembers(object, { _meta: withMembers(memberOf(object, 0, "_meta") ?? "{}", set) })
