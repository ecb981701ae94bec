/**
 * Adds members to JSON objects that are passed on: the object's other members stay byte for byte.
 */
import { mayHaveMember, memberOf, membersWithout } from "../shared/JsonText.ts"

/** The object with these members, given as JSON texts, instead of its own of the same names. */
export const withMembers = (object: string, set: Readonly<Record<string, string>>): string => {
  const names = Object.keys(set)
  const isObject = object.startsWith("{") && object.endsWith("}")
  const isAddition = isObject && !names.some((name) => mayHaveMember(object, name))
  const kept = isAddition ? object.slice(1, -1).trimEnd() : membersWithout(object, names).join(",")
  const added = names.map((name) => `${JSON.stringify(name)}:${set[name]!}`).join(",")
  return kept === "" ? `{${added}}` : `{${kept},${added}}`
}

/** The object with these members in its `_meta`, instead of those of the same names that its author wrote there. */
export const withMeta = (object: string, set: Readonly<Record<string, string>>): string =>
  withMembers(object, { _meta: withMembers(memberOf(object, 0, "_meta") ?? "{}", set) })
