/**
 * For providers: accepts only requests that the market signed, and reports what a usage-priced call costs. Wraps the `fetch`
 * of an MCP server (`createMcpHandler` of `@modelcontextprotocol/server`, or any other). Entry: `agent-tool-billing/provider`.
 */

/** The secrets that `withBilling` verifies signatures with, and the limits of a request. */
export interface BillingOptions {
  /**
   * Your signing secret: `GET /api/v1/market/providers/signing-secret`. Several while you replace one. A function is asked for
   * each request, so that the server starts before its registration: while it returns undefined, the market can read the list
   * of tools, and every other request is rejected.
   */
  readonly secret: Secret | (() => Secret | undefined | Promise<Secret | undefined>)
  /** How old a signature may be, and how far a clock may be ahead. Default: 300,000. */
  readonly ageMsMax?: number
  /** Larger requests are rejected. Default: 5 MiB. */
  readonly bodyBytesMax?: number
  /** Default: `Date.now`. */
  readonly now?: () => number
}

type Secret = string | ReadonlyArray<string>

type Fetch = (request: Request) => Response | Promise<Response>

const COST_FIELD = "market/cost_microcents"
const MAX_COST_FIELD = "market/max_cost_microcents"
const NO_CALL = "-"
/** With these the market learns, at a registration, what a server offers. None of them runs a tool. */
const DISCOVERY: ReadonlySet<unknown> = new Set([
  "initialize",
  "notifications/initialized",
  "ping",
  "server/discover",
  "tools/list"
])
/** About 800 calls a second for five minutes. */
const SIGNATURES_KEPT_MAX = 250_000

export const withBilling = (
  fetch: Fetch,
  { ageMsMax = 300_000, bodyBytesMax = 5_242_880, now = Date.now, secret }: BillingOptions
): Fetch => {
  const fixed = typeof secret === "function" ? undefined : listOf(secret)
  const keys = keyRing()
  /** Signatures of calls of this process, with the time when they expire. A retry of the market has a new one. */
  const seen = new Map<string, number>()

  return async (request) => {
    const body = await readBody(request, bodyBytesMax)
    if (body === undefined) return rejected(413, `The body is larger than ${bodyBytesMax} bytes.`)
    const secrets = fixed ?? (await asked(secret))
    if (secrets === undefined) {
      const discovery = discoveryOf(body)
      if (discovery === undefined) return rejected(503, "The signing secret is not known yet.")
      return fetch(
        new Request(request.url, { ...partsOf(request), headers: unsigned(request.headers), body: discovery })
      )
    }
    const next = () =>
      fetch(new Request(request.url, { ...partsOf(request), body: body.byteLength === 0 ? null : body }))
    if (!(await isSigned(request.headers, body, await keys(secrets)))) {
      return rejected(401, "The request is not signed by the market: X-Market-Signature is missing or wrong.")
    }
    const signedMs = Date.parse(request.headers.get("x-market-timestamp") ?? "")
    if (!(Math.abs(now() - signedMs) <= ageMsMax)) {
      return rejected(401, `The signature is older than ${ageMsMax / 1_000} seconds, or a clock is wrong.`)
    }
    if (request.headers.get("x-market-invocation") !== NO_CALL) {
      const signature = request.headers.get("x-market-signature")!
      if (seen.has(signature)) return rejected(409, "This request was sent before.")
      forgetExpired(seen, now())
      if (seen.size >= SIGNATURES_KEPT_MAX) return rejected(503, "Too many calls within the age of a signature.")
      seen.set(signature, signedMs + ageMsMax)
    }
    return next()
  }
}

const listOf = (secret: Secret): ReadonlyArray<string> => {
  const secrets = typeof secret === "string" ? [secret] : secret
  if (secrets.length === 0 || secrets.some((one) => one === "")) throw new TypeError("The signing secret is empty.")
  return secrets
}

const asked = async (secret: BillingOptions["secret"]): Promise<ReadonlyArray<string> | undefined> => {
  const found = typeof secret === "function" ? await secret() : secret
  const secrets = typeof found === "string" ? [found] : (found ?? [])
  // An unset variable of the environment is often an empty text.
  return secrets.length === 0 || secrets.includes("") ? undefined : secrets
}

/** The keys of the last secrets. */
const keyRing = () => {
  let of = ""
  let keys: Promise<ReadonlyArray<CryptoKey>> | undefined
  return (secrets: ReadonlyArray<string>): Promise<ReadonlyArray<CryptoKey>> => {
    const text = JSON.stringify(secrets)
    if (keys === undefined || of !== text) keys = Promise.all(secrets.map(hmacKey))
    of = text
    return keys
  }
}

/**
 * One message, written anew: a batch could contain a call, and so could a body that names two methods. Undefined for anything
 * else.
 */
const discoveryOf = (body: ArrayBuffer): string | undefined => {
  try {
    const message: unknown = JSON.parse(new TextDecoder().decode(body))
    if (typeof message !== "object" || message === null || !("method" in message)) return undefined
    const { id, jsonrpc, method, params } = message as Readonly<Record<string, unknown>>
    return DISCOVERY.has(method) ? JSON.stringify({ jsonrpc, id, method, params }) : undefined
  } catch {
    return undefined
  }
}

/** Without what only the market may say. */
const unsigned = (headers: Headers): Headers => {
  const others = new Headers(headers)
  for (const name of headers.keys()) if (name.startsWith("x-market-")) others.delete(name)
  return others
}

/**
 * The most that this call may cost, in microcents. Undefined: the tool has a fixed price. `params`: of the request
 * `tools/call`.
 */
export const maxCostOf = (params: { readonly _meta?: unknown }): number | undefined => {
  const cap = metaOf(params)[MAX_COST_FIELD]
  return typeof cap === "number" && Number.isSafeInteger(cap) && cap >= 0 ? cap : undefined
}

/** The result of a usage-priced call with its cost. The market bills it up to the amount that it reserved. */
export const withCost = <Result extends object>(
  result: Result,
  costMicrocents: number
): Result & { readonly _meta: Readonly<Record<string, unknown>> } => {
  if (!Number.isSafeInteger(costMicrocents) || costMicrocents < 0) {
    throw new RangeError(`A cost is a non-negative integer in microcents, not ${costMicrocents}.`)
  }
  return { ...result, _meta: { ...metaOf(result), [COST_FIELD]: costMicrocents } }
}

const metaOf = (value: object): Readonly<Record<string, unknown>> => {
  const meta = "_meta" in value ? value._meta : undefined
  return typeof meta === "object" && meta !== null ? { ...meta } : {}
}

const rejected = (status: number, message: string): Response =>
  Response.json({ jsonrpc: "2.0", id: null, error: { code: -32_001, message } }, { status })

const partsOf = ({ headers, method, signal }: Request): RequestInit => ({ headers, method, signal })

const readBody = async (request: Request, bytesMax: number): Promise<ArrayBuffer | undefined> => {
  const chunks: Array<Uint8Array<ArrayBuffer>> = []
  let bytes = 0
  if (request.body !== null) {
    for await (const chunk of request.body as unknown as AsyncIterable<Uint8Array<ArrayBuffer>>) {
      bytes += chunk.byteLength
      if (bytes > bytesMax) return undefined
      chunks.push(chunk)
    }
  }
  return new Blob(chunks).arrayBuffer()
}

/** The map is in the order of arrival, which is nearly the order of expiry. */
const forgetExpired = (seen: Map<string, number>, nowMs: number): void => {
  for (const [old, expiresMs] of seen) {
    if (expiresMs > nowMs) return
    seen.delete(old)
  }
}

const utf8 = new TextEncoder()

const hmacKey = (secret: string): Promise<CryptoKey> =>
  crypto.subtle.importKey("raw", utf8.encode(secret), { name: "HMAC", hash: "SHA-256" }, false, ["verify"])

/** HMAC-SHA256 of "market-v1", timestamp, consumer, tool, invocation and the body's SHA-256 in hex, joined by line feeds. */
const isSigned = async (headers: Headers, body: ArrayBuffer, keys: ReadonlyArray<CryptoKey>): Promise<boolean> => {
  const signature = bytesOf(headers.get("x-market-signature") ?? "")
  if (signature === undefined) return false
  const values = ["timestamp", "consumer", "tool", "invocation"].map((name) => headers.get(`x-market-${name}`) ?? "")
  const digest = hexOf(await crypto.subtle.digest("SHA-256", body))
  const signed = utf8.encode(["market-v1", ...values, digest].join("\n"))
  const verdicts = await Promise.all(keys.map((key) => crypto.subtle.verify("HMAC", key, signature, signed)))
  return verdicts.includes(true)
}

const hexOf = (bytes: ArrayBuffer): string =>
  Array.from(new Uint8Array(bytes), (byte) => byte.toString(16).padStart(2, "0")).join("")

const bytesOf = (hex: string): Uint8Array<ArrayBuffer> | undefined =>
  /^[0-9a-f]{64}$/u.test(hex)
    ? Uint8Array.from(hex.match(/../gu) ?? [], (pair) => Number.parseInt(pair, 16))
    : undefined
