/**
 * A URL from a user: http or https, no credentials, bounded. Whether it may be called is decided on the resolved
 * address, when the connection is made.
 */
import { Schema } from "effect"
import { isPlainLine } from "./PlainText.ts"

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

export const EndpointUrl = Schema.String.check(
  Schema.isMaxLength(ENDPOINT_URL_CHARS_MAX),
  isPlainLine,
  Schema.makeFilter((text: string) =>
    isEndpoint(text) ? undefined : "must be an http or https URL without credentials"
  )
).pipe(Schema.annotateEncoded({ format: "uri" }))
