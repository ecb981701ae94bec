/**
 * Text that one user gives and others see. A control, bidirectional or zero-width character makes it look like another
 * text, or hides a part of it: names and titles have none. Descriptions may have newlines and tabs, and the joiners (ZWJ,
 * ZWNJ) that scripts and emoji need.
 */
import { Schema } from "effect"

/**
 * The default ignorable characters of Unicode are the bidirectional controls and those of no width. A variation selector
 * is shown after an emoji and in a keycap.
 */
const HIDDEN =
  String.raw`(?:(?![\ufe0e\ufe0f])[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\ufff9-\ufffb]` +
  String.raw`|(?<!\p{Extended_Pictographic})[\ufe0e\ufe0f](?!\u20e3))`

const IN_LINE = new RegExp(HIDDEN, "u")
const IN_TEXT = new RegExp(String.raw`(?![\n\t\u200c\u200d])${HIDDEN}`, "u")
/** A joiner at the start, or after a Latin, Greek or Cyrillic letter, joins nothing. Lines may end as on Windows. */
const SHOWN = new RegExp(String.raw`(?![\n\t]|\r\n|(?<=[^\0-\u052f])[\u200c\u200d])${HIDDEN}`, "gu")

/** Returns why this cannot be a name or a title. */
export const lineFault = (text: string): string | undefined => fault(text, IN_LINE)

/** Returns why this cannot be a description. A line break is one newline: see `withNewlines`. */
export const textFault = (text: string): string | undefined => fault(text, IN_TEXT)

const CHECKS = new Map([
  ["title", lineFault],
  ["description", textFault]
])

export const isPlainLine = Schema.makeFilter(lineFault)
export const isPlainText = Schema.makeFilter(textFault)

/**
 * Returns why the definition of a tool, or a JSON Schema, cannot be shown: at any depth a `title` is a line, and a
 * `description` a text. Uses no recursion, which could exhaust the stack.
 */
export const definitionFault = (definition: object): string | undefined => {
  const values: Array<unknown> = [definition]
  for (let value = values.pop(); value !== undefined; value = values.pop()) {
    if (typeof value !== "object" || value === null) continue
    if (Array.isArray(value)) {
      for (const item of value) if (typeof item === "object") values.push(item)
      continue
    }
    for (const [name, member] of Object.entries(value)) {
      if (typeof member === "object") values.push(member)
      const check = typeof member === "string" ? CHECKS.get(name) : undefined
      const found = check?.(withNewlines(member as string))
      if (found !== undefined) return `${found} in a \`${name}\``
    }
  }
  return undefined
}

/** Line breaks of other systems as newlines. */
export const withNewlines = (text: string): string => text.replace(/\r\n?/gu, "\n")

/** Shows each such character of a text from before these rules as `[U+202E]`, so that a reader sees it. */
export const escapeHidden = (text: string, escape = (char: string) => `[${codeOf(char)}]`): string =>
  text.replace(SHOWN, (char) => escape(char))

/** JSON of the same value, in which each of the characters is an escape. */
export const escapeHiddenJson = (json: string): string =>
  MAYBE_HIDDEN.test(json) ? escapeHidden(json, (char) => char.split("").map(unitEscape).join("")) : json

/** Most JSON has none, and without the rules about neighbors the test is quick. */
const MAYBE_HIDDEN = /[\x7f-\x9f\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\ufff9-\ufffb]/u

const unitEscape = (unit: string): string => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`

const fault = (text: string, hidden: RegExp): string | undefined => {
  const found = hidden.exec(text)?.[0]
  return found === undefined
    ? undefined
    : `must not contain the control, bidirectional or zero-width character ${codeOf(found)}`
}

const codeOf = (char: string): string => `U+${char.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0")}`

export const ENDPOINT_URL_CHARS_MAX = 2_048

const isEndpoint = (text: string): boolean => {
  const url = URL.parse(text)
  return (
    url !== null &&
    (url.protocol === "http:" || url.protocol === "https:") &&
    url.username === "" &&
    url.password === "" &&
    url.hostname !== ""
  )
}

/**
 * A URL from a user: http or https, no credentials, bounded. Whether it may be called is decided on the resolved address,
 * when the connection is made.
 */
export const EndpointUrl = Schema.String.check(
  Schema.isMaxLength(ENDPOINT_URL_CHARS_MAX),
  isPlainLine,
  Schema.makeFilter((text: string) =>
    isEndpoint(text) ? undefined : "must be an http or https URL without credentials"
  )
).pipe(Schema.annotateEncoded({ format: "uri" }))
