/**
 * The routes of one path that speaks MCP. A request without a valid key is rejected before its method is looked
 * at.
 */
import { Clock, Effect, Queue } from "effect"
import { Authentication, type Unauthorized } from "../../../domain/accounts/Authentication.ts"
import { liveUntilMs } from "../../../domain/accounts/Levels.ts"
import { ChangeFeed, onEachChange } from "../../../domain/shared/ChangeFeed.ts"
import { Digest } from "../../../domain/shared/Cryptography.ts"
import { INVALID_REQUEST } from "../../../domain/upstream/Protocol.ts"
import { BaseUrl, pageUrl } from "../contract/BaseUrl.ts"
import { mcpDoor, uncached } from "../contract/Endpoint.ts"
import { callProblems, type HandlerError, problemOf } from "../metering/CallProblems.ts"
import { BODY_BYTES_MAX, readText, storedBody } from "../pipeline/Decoding.ts"
import { MethodNotAllowed, type RateLimited } from "../pipeline/Failures.ts"
import { type AnyInput, documentRoute, type EncodedReply, type Route, withProblems } from "../pipeline/Route.ts"
import { credentialOf } from "../pipeline/Stages.ts"
import { header, type WebRequest } from "../pipeline/WebRequest.ts"
import { refusalOf, refusalResult } from "./CallResults.ts"
import type { Consumer, Dispatch, Door, DoorClients, DoorFailure, SessionClients } from "./Door.ts"
import { makeDispatch } from "./MethodDispatch.ts"
import { makeModernDoor } from "./ModernDoor.ts"
import {
  errorMember,
  errorText,
  faultOf,
  faultReply,
  faultsReplied,
  parseError,
  parseMessages,
  replyOf,
  responseText,
  type RpcBatch,
  type RpcFault,
  type RpcMessage
} from "./RpcMessages.ts"

// Ends what stays open under a key when the key is revoked or expires, on every node.

/** The cache of keys has heard of the change by then, too. */
const SETTLED_AFTER_MS = 250
/** A key that was rotated works for some time. */
const CHECK_AGAIN_AFTER_MS = 60_000
/** No stream is open for longer. */
const OPEN_MS_MAX = 3_600_000

type Hint = () => void

const makeKeyRejections = Effect.gen(function* () {
  const authentication = yield* Authentication
  const feed = yield* ChangeFeed
  const { sha256Hex } = yield* Digest
  const open = new Map<string, Set<Hint>>()

  yield* onEachChange(feed, ({ id, topic }) => {
    if (topic === "key") for (const hint of open.get(id) ?? []) hint()
    if (topic === "everything" || topic === "level") for (const hints of open.values()) for (const hint of hints) hint()
  })

  const register = (hash: string, hint: Hint): Effect.Effect<void> => {
    const hints = open.get(hash) ?? new Set()
    open.set(hash, hints.add(hint))
    return Effect.sync(() => {
      hints.delete(hint)
      if (hints.size < 1) open.delete(hash)
    })
  }

  /** Fails when the key of the request does not work any more. */
  return Effect.fnUntraced(function* (
    request: WebRequest,
    { expiresAt, levels }: Consumer
  ): Effect.fn.Return<never, Unauthorized> {
    const credential = credentialOf(request)
    const hints = yield* Queue.sliding<void>(1)
    const check = Effect.catchTag(authentication.authenticate(credential), "StoreUnavailable", () => Effect.void)
    const untilMs = Math.min(expiresAt?.epochMilliseconds ?? Number.POSITIVE_INFINITY, liveUntilMs(levels))
    let waitMs = Math.min(untilMs - (yield* Clock.currentTimeMillis), OPEN_MS_MAX)
    const watch = Effect.gen(function* () {
      for (;;) {
        yield* Effect.timeoutOption(Queue.take(hints), Math.max(0, waitMs))
        yield* Effect.sleep(SETTLED_AFTER_MS)
        yield* check
        waitMs = CHECK_AGAIN_AFTER_MS
      }
    })
    const forget = register(sha256Hex(credential), () => void Queue.offerUnsafe(hints, undefined))
    return yield* Effect.ensuring(watch, forget)
  })
})

// A door rejects pages of foreign sites, which could reach a service on the visitor's own machine or network by DNS
// rebinding. Clients that are no browsers send no `Origin`.

/** Tools that developers run on their own machine. */
const LOCAL = /^https?:\/\/(?:localhost|127\.0\.0\.1|\[::1\])(?::\d{1,5})?$/u

const originFault = (request: WebRequest, baseUrl: string): RpcFault | undefined => {
  const origin = header(request, "origin")
  if (origin === undefined || origin === new URL(baseUrl).origin || LOCAL.test(origin)) return undefined
  const reason = "Requests of web pages are only accepted from this service's own pages and from localhost."
  return faultOf(INVALID_REQUEST, 403)(reason)
}

const SUBSCRIBE = "subscriptions/listen"

const LIMITED_BYTES_MAX = 65_536

type Handled = Effect.Effect<EncodedReply, HandlerError>

export interface DoorPath {
  readonly path: `/${string}`
  /** One line for the indexes. */
  readonly summary: string
  /** The door of a request; fails if there is none. */
  readonly doorOf: (input: AnyInput) => Effect.Effect<Door, DoorFailure | HandlerError>
}

/** They are built once, for all doors. */
export const makeDoorRoutes = Effect.fnUntraced(function* <R>(
  makeSessions: (dispatch: Dispatch) => Effect.Effect<SessionClients, never, R>
) {
  const baseUrl = yield* BaseUrl
  const dispatch = yield* makeDispatch
  const sessions = yield* makeSessions(dispatch)
  const modern = yield* makeModernDoor(dispatch)
  const rejection = yield* makeKeyRejections

  const clientsOf = (request: WebRequest, message: RpcMessage | RpcBatch): DoorClients =>
    sessions.sends(request, message) ? sessions : modern

  /** A call runs to its end; what only listens ends with its key. */
  const whileKeyWorks = <E>(input: AnyInput, caller: Consumer, listening: Effect.Effect<EncodedReply, E>) =>
    Effect.raceFirst(listening, rejection(input.request, caller))

  const posted = Effect.fnUntraced(function* (door: Door, input: AnyInput) {
    const { clock, request } = input
    // Sending the body has its own time limit.
    clock.pause()
    const text = yield* Effect.catchTag(readText(request, BODY_BYTES_MAX), "BadRequest", ({ message }) =>
      Effect.fail(parseError(message))
    )
    clock.restart(0)
    const message = yield* parseMessages(text)
    const caller = input.as("consumer")
    const answered = clientsOf(request, message).post(door, caller, input, message)
    const listens = message._tag === "Request" && message.method === SUBSCRIBE
    return yield* listens ? whileKeyWorks(input, caller, answered) : answered
  })

  /**
   * A call beyond the rate limit of its key is a result that a model can act on: an SDK reports HTTP 429 as a broken
   * transport. Only a short request is read for it.
   */
  const limitedCall = Effect.fnUntraced(function* (
    input: AnyInput,
    error: RateLimited
  ): Effect.fn.Return<EncodedReply, RateLimited> {
    const { clock, request } = input
    clock.pause()
    const read = Effect.flatMap(readText(request, LIMITED_BYTES_MAX), parseMessages)
    const message = yield* Effect.orElseSucceed(read, () => undefined)
    clock.restart(0)
    if (message?._tag !== "Request" || message.method !== "tools/call") return yield* error
    const { dialect } = clientsOf(request, message)
    const refusal = refusalOf(error, { baseUrl }, yield* Clock.currentTimeMillis)
    return replyOf(
      message.id,
      { _tag: "Result", result: dialect.result(message.method, refusalResult(refusal, dialect.structuredErrors)) },
      problemOf(error, baseUrl).headers ?? {}
    )
  })

  const gotten = (door: Door, input: AnyInput) => {
    if (input.request.method === "HEAD") return notAllowed(input)
    const caller = input.as("consumer")
    return whileKeyWorks(input, caller, sessions.get(door, caller, input))
  }

  const deleted = (door: Door, input: AnyInput) => sessions.delete(door, input.as("consumer"), input)

  return ({ doorOf, path, summary }: DoorPath): ReadonlyArray<Route> => {
    const answering =
      (handle: (door: Door, input: AnyInput) => Effect.Effect<EncodedReply, HandlerError | RpcFault>) =>
      (input: AnyInput): Handled => {
        const origin = originFault(input.request, baseUrl)
        if (origin !== undefined) return Effect.succeed(faultReply(origin))
        return faultsReplied(Effect.flatMapEager(doorOf(input), (door) => handle(door, input)))
      }
    const route = (
      method: string,
      shown: string,
      handle: Parameters<typeof answering>[0],
      answers: Pick<Route, "answerLimited" | "answerUnauthenticated"> = {}
    ): Route => ({
      method,
      path,
      summary: shown,
      rule: mcpDoor,
      // Read and parsed here: what is wrong with a message is a JSON-RPC error.
      takesBody: false,
      body: storedBody,
      compatibility: undefined,
      ownIdempotency: true,
      late: "call",
      decodeParams: undefined,
      decodeQuery: undefined,
      decodePayload: () => Effect.undefined,
      ...answers,
      ...withProblems(callProblems, answering(handle))
    })
    return [
      route("POST", summary, posted, { answerLimited: limitedCall }),
      route("GET", "", gotten, { answerUnauthenticated: (request) => refusedEventTransport(request, baseUrl) }),
      route("DELETE", "", deleted),
      route("PUT", "", (_, input) => notAllowed(input)),
      route("PATCH", "", (_, input) => notAllowed(input))
    ]
  }
})

const notAllowed = ({ request: { method, path } }: AnyInput) =>
  Effect.fail(new MethodNotAllowed({ method, path, allow: ["GET", "POST", "DELETE", "OPTIONS"] }))

// MCP clients also try OAuth, after a 401, and the older HTTP+SSE transport. Their users see only the text of these
// responses.

const SSE_VERSION = "2024-11-05"

/**
 * Clients look for an authorization server here, with the path of a door behind it or before it. Only 404 lets them go
 * on to register, whose error they show.
 */
const METADATA = [
  "/.well-known/oauth-protected-resource",
  "/.well-known/oauth-authorization-server",
  "/.well-known/openid-configuration"
].flatMap((path) => [path, `${path}/*`])

export const refusalRoutes = Effect.gen(function* () {
  const baseUrl = yield* BaseUrl
  // RFC 6749 forbids quotation marks and backslashes. `mcp-remote` would read a status in the text as the status.
  const error = JSON.stringify({
    error: "invalid_request",
    error_description:
      "This server does not use OAuth, it takes an API key. If your client sends no key, let it send the header " +
      "`Authorization: Bearer <key>`. If it sends one, the key is wrong, has expired or was revoked: check that you copied all " +
      `of it. Get a key at ${pageUrl(baseUrl, "/developers/register")}.`
  })
  const refused = (status: number): EncodedReply => ({ status, headers: { "cache-control": "no-store" }, body: error })
  const route = (method: "GET" | "POST", path: string, reply: EncodedReply): Route => ({
    ...documentRoute(path as `/${string}`, uncached, Effect.succeed(reply), ""),
    method,
    decodeQuery: undefined
  })
  return [
    ...[...METADATA, "/mcp/.well-known/*", "/mcp/:provider/.well-known/*"].map((path) =>
      route("GET", path, refused(404))
    ),
    route("POST", "/register", refused(400)),
    route("GET", "/authorize", refused(400)),
    route("POST", "/authorize", refused(400)),
    route("POST", "/token", refused(400)),
    route("GET", "/sse", noEventTransport(baseUrl, "/mcp", 404)),
    // The official clients show the body of a 400.
    route("POST", "/sse", noEventTransport(baseUrl, "/mcp", 400))
  ]
})

/** At a door, whether or not it has a key: 405 lets clients go on to streamable HTTP. Undefined for any other request. */
const refusedEventTransport = (request: WebRequest, baseUrl: string): EncodedReply | undefined =>
  request.method === "GET" &&
  header(request, "mcp-session-id") === undefined &&
  (header(request, "mcp-protocol-version") ?? SSE_VERSION) === SSE_VERSION &&
  header(request, "accept")?.includes("text/event-stream") === true
    ? noEventTransport(baseUrl, request.path, 405)
    : undefined

const noEventTransport = (baseUrl: string, path: string, status: number): EncodedReply => {
  const message =
    `This server speaks MCP over streamable HTTP, not over the HTTP+SSE transport of ${SSE_VERSION}. Set the transport of your ` +
    `client to streamable HTTP (\`http\`), with the URL ${baseUrl}${path} and the header \`Authorization: Bearer <key>\`.`
  return {
    status,
    headers: status === 405 ? { allow: "POST, DELETE, OPTIONS" } : {},
    body: responseText(undefined, errorMember(errorText(INVALID_REQUEST, message)))
  }
}
