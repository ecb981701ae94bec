/**
 * Gzips pages, scripts and other long documents for clients that accept it. Responses of the API are not compressed: most
 * are short, and compressing a long one would delay all other requests. The compressed form of a repeated document is
 * cached.
 */
import { gzipSync } from "node:zlib"
import type { WebResponse } from "../pipeline/WebRequest.ts"

const SHORT_CHARS_MAX = 1_024
/** JSON is compressed only from this length on: the OpenAPI document, for example. */
const SHORT_JSON_CHARS_MAX = 65_536
const KEPT_MAX = 64
const KEPT_BYTES_MAX = 8 * 1024 * 1024
/** Longer documents are not compressed; the service's own documents are shorter. */
const LONG_CHARS_MAX = 2 * 1024 * 1024

export interface Compression {
  of(answer: WebResponse, acceptEncoding: string | undefined): WebResponse
}

export const makeCompression = (): Compression => {
  const kept = new Map<string, Uint8Array>()
  let keptBytes = 0

  const compressed = (body: string): Uint8Array => {
    const known = kept.get(body)
    if (known !== undefined) return known
    const bytes = gzipSync(body)
    // A character of the key takes one or two bytes.
    const weight = (one: string): number => one.length * 2
    kept.set(body, bytes)
    keptBytes += weight(body)
    for (const oldest of kept.keys()) {
      if (kept.size <= KEPT_MAX && keptBytes <= KEPT_BYTES_MAX) break
      kept.delete(oldest)
      keptBytes -= weight(oldest)
    }
    return bytes
  }

  return {
    of: (answer, acceptEncoding) => {
      const { body, headers } = answer
      if (answer.status !== 200 || typeof body !== "string" || !isCompressible(headers, body.length)) return answer
      const vary = headers["vary"] === undefined ? "Accept-Encoding" : `${headers["vary"]}, Accept-Encoding`
      return takesGzip(acceptEncoding)
        ? { ...answer, headers: { ...headers, vary, "content-encoding": "gzip" }, body: compressed(body) }
        : { ...answer, headers: { ...headers, vary } }
    }
  }
}

const isCompressible = (headers: WebResponse["headers"], chars: number): boolean => {
  if (chars > LONG_CHARS_MAX) return false
  const contentType = headers["content-type"] ?? ""
  if (contentType.startsWith("text/")) return chars > SHORT_CHARS_MAX
  const isForAll = headers["cache-control"]?.startsWith("public") === true
  return isForAll && contentType.startsWith("application/json") && chars > SHORT_JSON_CHARS_MAX
}

/** RFC 9110, 12.5.3: a weight of 0 means not acceptable. */
export const takesGzip = (acceptEncoding: string | undefined): boolean => {
  if (acceptEncoding === undefined) return false
  const weights = new Map(
    acceptEncoding.split(",").map((one) => {
      const [coding = "", ...parameters] = one.split(";").map((part) => part.trim().toLowerCase())
      const weight = parameters.find((parameter) => parameter.startsWith("q="))
      return [coding, weight === undefined ? 1 : Number(weight.slice(2))] as const
    })
  )
  return (weights.get("gzip") ?? weights.get("x-gzip") ?? weights.get("*") ?? 0) > 0
}
