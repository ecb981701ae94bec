/**
 * Any other request to an address from a user (a well-known file, a repository, a webhook): through the same guard,
 * with a deadline and a size limit, following redirects on the same host only.
 */
import { Effect, Schema, type Scope } from "effect"
import { Agent } from "undici"
import { AddressRejected, guardedConnector, type GuardOptions, NameUnresolved } from "./GuardedConnector.ts"

export interface GuardedRequest {
  readonly url: string
  readonly method?: "GET" | "POST"
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  /** For everything, redirects included. */
  readonly timeoutMs: number
  readonly bodyBytesMax: number
  readonly redirectsMax?: number
}

export interface GuardedResponse {
  /** The URL of the response, after redirects. */
  readonly url: string
  readonly status: number
  readonly headers: Readonly<Record<string, string | Array<string> | undefined>>
  readonly body: Buffer
}

/** The URL could not be read, and why. */
export class FetchFailed extends Schema.TaggedError<FetchFailed>()("FetchFailed", {
  hostname: Schema.String,
  reason: Schema.Literals(["not_a_url", "connection", "timeout", "too_large", "redirected_away"])
}) {
  override get message() {
    return `${this.hostname} could not be read: ${sentences[this.reason]}`
  }
}

export type GuardedFetch = (
  request: GuardedRequest
) => Effect.Effect<GuardedResponse, AddressRejected | NameUnresolved | FetchFailed>

export const makeGuardedFetch = (guard: GuardOptions): Effect.Effect<GuardedFetch, never, Scope.Scope> =>
  Effect.map(
    Effect.acquireRelease(
      Effect.sync(
        () =>
          new Agent({
            connect: guardedConnector(guard),
            connections: 4,
            allowH2: false,
            maxHeaderSize: HEADER_BYTES_MAX
          })
      ),
      (agent) => Effect.promise(() => agent.destroy())
    ),
    (agent) => (request) =>
      follow(agent, request, request.url, request.redirectsMax ?? 0).pipe(
        Effect.timeoutOrElse({
          duration: request.timeoutMs,
          orElse: () => Effect.fail(failed(request.url, "timeout"))
        })
      )
  )

const HEADER_BYTES_MAX = 16 * 1024

const sentences = {
  not_a_url: "it is not an http or https address",
  connection: "the connection failed",
  timeout: "it did not respond in time",
  too_large: "its response is too large",
  redirected_away: "it redirects elsewhere"
} as const

const failed = (url: string, reason: FetchFailed["reason"]) =>
  new FetchFailed({ hostname: URL.parse(url)?.hostname ?? url.slice(0, 100), reason })

const follow: (agent: Agent, request: GuardedRequest, url: string, redirectsLeft: number) => ReturnType<GuardedFetch> =
  Effect.fnUntraced(function* (agent, request, url, redirectsLeft) {
    const parsed = URL.parse(url)
    if (parsed === null || (parsed.protocol !== "http:" && parsed.protocol !== "https:")) {
      return yield* failed(url, "not_a_url")
    }
    const response = yield* Effect.tryPromise({
      try: (signal) => send(agent, request, parsed, signal),
      catch: (error) =>
        error instanceof AddressRejected || error instanceof NameUnresolved || error instanceof FetchFailed
          ? error
          : failed(url, "connection")
    })
    const location = response.headers["location"]
    if (response.status < 300 || response.status >= 400 || typeof location !== "string") return response
    const target = URL.parse(location, url)
    if (redirectsLeft === 0 || target === null || target.host !== parsed.host || request.method === "POST") {
      return yield* failed(url, "redirected_away")
    }
    return yield* follow(agent, request, target.href, redirectsLeft - 1)
  })

const send = async (
  agent: Agent,
  { body, bodyBytesMax, headers, method = "GET", timeoutMs }: GuardedRequest,
  url: URL,
  signal: AbortSignal
): Promise<GuardedResponse> => {
  const response = await agent.request({
    origin: url.origin,
    path: url.pathname + url.search,
    method,
    headers: { ...headers, "accept-encoding": "identity" },
    body: body ?? null,
    signal,
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs
  })
  const chunks: Array<Buffer> = []
  let bytes = 0
  for await (const chunk of response.body) {
    chunks.push(chunk as Buffer)
    bytes += (chunk as Buffer).length
    if (bytes > bodyBytesMax) throw failed(url.href, "too_large")
  }
  return { url: url.href, status: response.statusCode, headers: response.headers, body: Buffer.concat(chunks) }
}
