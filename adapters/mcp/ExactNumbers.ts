/**
 * Numbers that a double does not hold, as the provider wrote them. `JSON.parse` rounds them; the proxy passes a result on
 * as it came, so where a text has such numbers the result is written again from their source text.
 */
import { type JsonObject, isObject } from "./JsonRpc.ts"

/** Only then can a number be written in a way that a double does not give back. */
const SUSPECT = /\d{16}|\d[eE]|-0/u

/** The result of request `id` in this text, with its numbers as written; undefined where doubles say the same. */
export const exactResult = (text: string, id: number): string | undefined => {
  if (!SUSPECT.test(text)) return undefined
  const parsed = parseExactly(text.charCodeAt(0) === 0xfeff ? text.slice(1) : text)
  const messages: ReadonlyArray<unknown> = Array.isArray(parsed) ? parsed : [parsed]
  const answer = messages.find((message): message is JsonObject => isObject(message) && Number(message["id"]) === id)
  return answer === undefined ? undefined : JSON.stringify(answer["result"])
}

type SourceReviver = (key: string, value: unknown, context: { readonly source?: string }) => unknown

/** What TypeScript's library does not declare yet (ECMAScript 2026). */
const { parse, rawJSON } = JSON as unknown as {
  readonly parse: (text: string, reviver: SourceReviver) => unknown
  readonly rawJSON: (text: string) => unknown
}

const parseExactly = (text: string): unknown =>
  parse(text, (_, value, { source }) =>
    typeof value === "number" && source !== undefined && String(value) !== source ? rawJSON(source) : value
  )
