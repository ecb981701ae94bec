/**
 * Results of a provider's server on their way to a client: verbatim, but without names of this service in `_meta`, and in lists
 * without characters that make a name or a title look like another one.
 */
import { elementsOf, type JsonMember, mayHaveMember, memberOf, membersOf, membersWithout } from "../shared/JsonText.ts"
import { escapeHidden, lineFault } from "../shared/PlainText.ts"
import { META_PREFIX } from "../upstream/Protocol.ts"

// Adds members to JSON objects that are passed on: the object's other members stay byte for byte.

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

const ITEMS: Readonly<Record<string, string>> = {
  "prompts/list": "prompts",
  "resources/list": "resources",
  "resources/templates/list": "resourceTemplates"
}

export const passedResult = (method: string, result: string): string => {
  const name = Object.hasOwn(ITEMS, method) ? ITEMS[method]! : undefined
  const list = name === undefined || !isSuspect(result) ? undefined : memberOf(result, 0, name)
  if (list === undefined) return withoutOwnMeta(result)
  const items = elementsOf(list)
  const left = items
    // A prompt is asked for by its name, which therefore cannot be shown differently.
    .filter((item) => method !== "prompts/list" || isPlainName(memberOf(item, 0, "name")))
    .map((item) => plainItem(item))
  return withoutOwnMeta(isSame(items, left) ? result : withMembers(result, { [name!]: `[${left.join(",")}]` }))
}

/** The definition of a tool, a prompt or a resource, as JSON. */
export const plainItem = (item: string): string => (isSuspect(item) ? plain(item, "", 0) : item)

/** `_meta` without names of this service. */
export const withoutOwn = (meta: string): string => {
  const members = meta.startsWith("{") ? membersOf(meta) : []
  const left = members.filter(({ name }) => !name.toLowerCase().startsWith(`${META_PREFIX}/`))
  return left.length === members.length ? meta : `{${left.map(memberText).join(",")}}`
}

const withoutOwnMeta = (object: string): string => {
  const meta = OWN_OR_ESCAPED.test(object) ? memberOf(object, 0, "_meta") : undefined
  const left = meta === undefined ? undefined : withoutOwn(meta)
  return left === undefined || left === meta ? object : withMembers(object, { _meta: left })
}

/** Most texts have neither. Any character can be written as an escape. */
const isSuspect = (text: string): boolean => OWN_OR_ESCAPED.test(text) || escapeHidden(text) !== text

const OWN_OR_ESCAPED = new RegExp(String.raw`${META_PREFIX}|\\[u/]`, "iu")

/** Each level is read again: deeper ones are left as they are. */
const DEPTH_MAX = 8
const SHOWN: ReadonlySet<string> = new Set(["name", "title", "description"])

/** The same text where nothing has to change. */
const plain = (text: string, of: string, depth: number): string => {
  if (text.startsWith('"')) return SHOWN.has(of) ? escaped(text) : text
  if (depth === DEPTH_MAX) return text
  if (text.startsWith("[")) {
    const elements = elementsOf(text)
    const left = elements.map((one) => plain(one, "", depth + 1))
    return isSame(elements, left) ? text : `[${left.join(",")}]`
  }
  if (!text.startsWith("{")) return text
  const members = membersOf(text)
  const left = members.map(({ name, text: value }) =>
    plain(name === "_meta" ? withoutOwn(value) : value, name, depth + 1)
  )
  return isSame(
    members.map((member) => member.text),
    left
  )
    ? text
    : `{${members.map(({ name }, n) => memberText({ name, text: left[n]! })).join(",")}}`
}

const memberText = ({ name, text }: JsonMember): string => `${JSON.stringify(name)}:${text}`

const isSame = (some: ReadonlyArray<string>, others: ReadonlyArray<string>): boolean =>
  some.length === others.length && some.every((one, n) => one === others[n])

const escaped = (text: string): string => {
  const value = JSON.parse(text) as string
  const shown = escapeHidden(value)
  return shown === value ? text : JSON.stringify(shown)
}

const isPlainName = (name: string | undefined): boolean =>
  name === undefined || !name.startsWith('"') || lineFault(JSON.parse(name) as string) === undefined
