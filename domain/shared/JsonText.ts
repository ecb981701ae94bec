/**
 * Extracts parts of a JSON text exactly as their author wrote them, with numbers beyond doubles and the order of members.
 * The text was parsed by JSON.parse before, so a part only has to be located; that costs less than serializing it.
 */
import { Predicate } from "effect"

/** Neither null nor an array. */
export const isObject: (value: unknown) => value is Readonly<Record<string, unknown>> = Predicate.isReadonlyObject

/** The last `result` of the message; in a batch, of its nth object. Expects text that JSON.parse accepted. */
export const rawResult = (text: string, nthObject: number): string | undefined => rawMember(text, nthObject, "result")

/** Returns any member, as `rawResult` does. */
export const rawMember = (text: string, nthObject: number, name: string): string | undefined => {
  const start = messageAt(text, nthObject)
  return start === undefined ? undefined : memberOf(text, start, name)
}

/** The message itself; in a batch, its nth object. */
export const rawMessage = (text: string, nthObject: number): string | undefined => {
  const start = messageAt(text, nthObject)
  return start === undefined ? undefined : text.slice(start, valueEnd(text, start))
}

/** The text of a member of the object that starts at `at`. Of duplicate members the last counts, as in JSON.parse. */
export const memberOf = (text: string, at: number, name: string): string | undefined => {
  if (!mayHaveMember(text, name)) return undefined
  const span = spanOf(text, at, name)
  return span === undefined ? undefined : text.slice(span.start, span.end)
}

/** The text with another value at the path of members, or the same text if there is no such member. */
export const replacedAt = (text: string, path: ReadonlyArray<string>, value: string): string => {
  let start = messageAt(text, 0)
  let end = start
  for (const name of path) {
    const span: Span | undefined =
      start === undefined || text.charCodeAt(start) !== BRACE ? undefined : spanOf(text, start, name)
    if (span === undefined) return text
    start = span.start
    end = span.end
  }
  return start === end ? text : text.slice(0, start) + value + text.slice(end)
}

/**
 * False if no object in the text has a member of this name, because the text has neither the name nor escapes that could write
 * it. Much faster than looking for the member. The name has no characters that JSON must escape.
 */
export const mayHaveMember = (text: string, name: string): boolean =>
  text.includes(`${name}"`) || ESCAPED_NAME.test(text)

/** JSON can write a name differently: a slash, and any character by its code. */
const ESCAPED_NAME = /\\[u/]/u

export interface JsonMember {
  readonly name: string
  readonly text: string
}

/** The members of an object, in order; none for another value. */
export const membersOf = (text: string): ReadonlyArray<JsonMember> => {
  const members: Array<JsonMember> = []
  const at = skipSpace(text, 0)
  if (text.charCodeAt(at) !== BRACE) return members
  eachMember(text, at, (nameStart, nameEnd, start, end) => {
    members.push({ name: nameOf(text, nameStart, nameEnd), text: text.slice(start, end) })
  })
  return members
}

/** The elements of an array, in order; none for another value. */
export const elementsOf = (text: string): ReadonlyArray<string> => {
  const elements: Array<string> = []
  let at = skipSpace(text, 0)
  if (text.charCodeAt(at) !== BRACKET) return elements
  at = skipSpace(text, at + 1)
  while (at < text.length && text.charCodeAt(at) !== BRACKET_END) {
    const end = valueEnd(text, at)
    elements.push(text.slice(at, end))
    at = skipSpace(text, end)
    if (text.charCodeAt(at) === COMMA) at = skipSpace(text, at + 1)
  }
  return elements
}

interface Span {
  readonly start: number
  readonly end: number
}

const spanOf = (text: string, at: number, name: string): Span | undefined => {
  let found: Span | undefined
  eachMember(text, at, (nameStart, nameEnd, start, end) => {
    if (isName(text, nameStart, nameEnd, name)) found = { start, end }
  })
  return found
}

const eachMember = (
  text: string,
  at: number,
  onMember: (nameStart: number, nameEnd: number, start: number, end: number) => void
): void => {
  let next = skipSpace(text, at + 1)
  while (text.charCodeAt(next) === QUOTE) {
    const nameEnd = stringEnd(text, next)
    const start = skipSpace(text, skipSpace(text, nameEnd) + 1)
    const end = valueEnd(text, start)
    onMember(next, nameEnd, start, end)
    next = skipSpace(text, end)
    if (text.charCodeAt(next) === COMMA) next = skipSpace(text, next + 1)
  }
}

/** The members of an object except those of these names, each verbatim with its name; none for another value. */
export const membersWithout = (text: string, names: ReadonlyArray<string>): Array<string> => {
  const kept: Array<string> = []
  const at = skipSpace(text, 0)
  if (text.charCodeAt(at) !== BRACE) return kept
  eachMember(text, at, (nameStart, nameEnd, _start, end) => {
    if (!names.some((name) => isName(text, nameStart, nameEnd, name))) kept.push(text.slice(nameStart, end))
  })
  return kept
}

/** The object with this member as its last one, or without it. The values of others are verbatim. */
export const objectWith = (object: string, name: string, value: string | undefined): string => {
  const kept = membersOf(object).filter((member) => member.name !== name)
  const members = value === undefined ? kept : [...kept, { name, text: value }]
  return `{${members.map((member) => `${JSON.stringify(member.name)}:${member.text}`).join(",")}}`
}

const messageAt = (text: string, nthObject: number): number | undefined => {
  let at = skipSpace(text, text.charCodeAt(0) === BYTE_ORDER_MARK ? 1 : 0)
  if (text.charCodeAt(at) === BRACE) return at
  let left = nthObject
  at = skipSpace(text, at + 1)
  while (at < text.length && text.charCodeAt(at) !== BRACKET_END) {
    if (text.charCodeAt(at) === BRACE && left-- === 0) return at
    at = skipSpace(text, valueEnd(text, at))
    if (text.charCodeAt(at) === COMMA) at = skipSpace(text, at + 1)
  }
  return undefined
}

/** Names may contain escapes, but rarely do. */
const isName = (text: string, start: number, end: number, name: string): boolean =>
  end - start === name.length + 2
    ? text.startsWith(name, start + 1)
    : end - start > name.length + 2 &&
      text.slice(start, end).includes("\\") &&
      JSON.parse(text.slice(start, end)) === name

const nameOf = (text: string, start: number, end: number): string => {
  const name = text.slice(start + 1, end - 1)
  return name.includes("\\") ? (JSON.parse(text.slice(start, end)) as string) : name
}

const skipSpace = (text: string, at: number): number => {
  let next = at
  for (;;) {
    const char = text.charCodeAt(next)
    if (char !== SPACE && char !== LINE_FEED && char !== CARRIAGE_RETURN && char !== TAB) return next
    next++
  }
}

/** The position after the closing quote of the string that starts at `at`. */
export const stringEnd = (text: string, at: number): number => {
  for (let quote = text.indexOf('"', at + 1); quote !== -1; quote = text.indexOf('"', quote + 1)) {
    let escapes = 0
    while (text.charCodeAt(quote - 1 - escapes) === BACKSLASH) escapes++
    if (escapes % 2 === 0) return quote + 1
  }
  return text.length
}

const valueEnd = (text: string, start: number): number => {
  let at = start
  let depth = 0
  while (at < text.length) {
    const char = text.charCodeAt(at)
    if (char === QUOTE) {
      at = stringEnd(text, at)
      if (depth === 0) return at
      continue
    }
    if (char === BRACE || char === BRACKET) depth++
    else if (char === BRACE_END || char === BRACKET_END) {
      if (depth === 0) return at
      if (--depth === 0) return at + 1
    } else if (depth === 0 && (char === COMMA || char <= SPACE)) return at
    at++
  }
  return at
}

const TAB = 0x09
const LINE_FEED = 0x0a
const CARRIAGE_RETURN = 0x0d
const SPACE = 0x20
const QUOTE = 0x22
const COMMA = 0x2c
const BRACKET = 0x5b
const BACKSLASH = 0x5c
const BRACKET_END = 0x5d
const BRACE = 0x7b
const BRACE_END = 0x7d
const BYTE_ORDER_MARK = 0xfeff

/** Compares values of bounded depth. The order of members does not count, and an absent member equals an undefined one. */
export const sameJson = (a: unknown, b: unknown): boolean => {
  if (a === b) return true
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false
  if (Array.isArray(a) || Array.isArray(b)) {
    return Array.isArray(a) && Array.isArray(b) && a.length === b.length && a.every((item, i) => sameJson(item, b[i]))
  }
  const [one, other] = [a as Members, b as Members]
  const names = new Set([...Object.keys(one), ...Object.keys(other)])
  return [...names].every((name) => sameJson(ownMember(one, name), ownMember(other, name)))
}

type Members = Readonly<Record<string, unknown>>

/** Ignores inherited members: one may be named `constructor`. */
const ownMember = (object: Members, name: string): unknown => (Object.hasOwn(object, name) ? object[name] : undefined)
