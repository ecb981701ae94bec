/**
 * Adds members to JSON objects that are passed on: the object's other members stay byte for byte.
 */
import { membersOf } from "../shared/JsonText.ts"

/** The object with these members, given as JSON texts, instead of its own of the same names. */
export const withMembers = (object: string, set: Readonly<Record<string, string>>): string =>
  objectOf([
    ...membersOf(object).filter(({ name }) => !Object.hasOwn(set, name)),
    ...Object.entries(set).map(([name, text]) => ({ name, text }))
  ])

/** The object with these members in its `_meta`, instead of those of the same names that its author wrote there. */
export const withMeta = (object: string, set: Readonly<Record<string, string>>): string => {
  const meta = membersOf(object).findLast(({ name }) => name === "_meta")
  return withMembers(object, { _meta: withMembers(meta?.text ?? "{}", set) })
}

interface Named {
  readonly name: string
  readonly text: string
}

const objectOf = (members: ReadonlyArray<Named>): string => `{${textOf(members)}}`

const textOf = (members: ReadonlyArray<Named>): string =>
  members.map(({ name, text }) => `${JSON.stringify(name)}:${text}`).join(",")
