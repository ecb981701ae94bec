/**
 * The stages that a request passes between its arrival and its handler, each around the next.
 */
import { Cause, Context, Duration, Effect, Exit, Fiber, Layer, type Redacted, Schema } from "effect"
import { RateLimiter } from "effect/persistence"
import {
  actorOf,
  Authentication,
  OperatorKey,
  type Principal,
  type Role,
  Unauthorized
} from "../../../domain/accounts/Authentication.ts"
import { idempotencyScope, type Level, Levels, scopesOf } from "../../../domain/accounts/Levels.ts"
import { AuditTrail } from "../../../domain/operator/AuditTrail.ts"
import { OperatorSessions, WrongOperatorKey } from "../../../domain/operator/OperatorSessions.ts"
import { type Probe, RateLimitState } from "../../../domain/platform/Health.ts"
import { type Deadline, makeDeadlines } from "../../../domain/shared/Deadlines.ts"
import { Idempotency } from "../../../domain/shared/Idempotency.ts"
import { LevelId } from "../../../domain/shared/Ids.ts"
import { LONG_TEXT_CHARS_MIN, ownTurn } from "../../../domain/shared/OwnTurn.ts"
import { BaseUrl } from "../contract/BaseUrl.ts"
import type { AccessRule } from "../contract/Endpoint.ts"
import type { WithOthers } from "./MetricSum.ts"
import { parseJson, readText } from "./Decoding.ts"
import {
  AuthorizationRejected,
  MetricsRejected,
  NotFromOwnPage,
  RateLimited,
  RequestTimedOut,
  RunRejected,
  ScopeMissing,
  WrongRole
} from "./Failures.ts"
import type { EncodedReply, Failure, Next, RequestContext, Route, Stage } from "./Route.ts"
import {
  bearer,
  bearerFault,
  header,
  idempotencyKey,
  isFromOwnPage,
  networkOf,
  sessionToken,
  type TrustedProxies,
  UNKNOWN_ADDRESS,
  type WebRequest
} from "./WebRequest.ts"

export interface RateLimitSettings {
  /** 0 for no limit. */
  readonly addressRpm: number
  readonly registrationRpm: number
  /** Attempts to sign in as the operator with a wrong key. */
  readonly signInRpm: number
  /** Requests with a wrong key. */
  readonly wrongKeyRpm: number
  readonly keysLimited: boolean
}

export const SIGN_INS_PER_MINUTE_MAX = 10
export const WRONG_KEYS_PER_MINUTE_MAX = 60

/** Says who may read the metrics of a node. `closed`: no client, until a token is configured. */
export type MetricsAccess = "open" | "closed" | Redacted.Redacted

/** The settings of the HTTP service. */
export class HttpSettings extends Context.Service<
  HttpSettings,
  {
    readonly rateLimits: RateLimitSettings
    readonly requestTimeoutMs: number
    readonly trustedProxies: TrustedProxies
    readonly metrics: MetricsAccess
    /** Default: this process is the whole node. */
    readonly metricsOfWorkers?: WithOthers | undefined
    /** The contact for vulnerabilities: a `mailto:` or `https:` URL. Undefined: there is no security.txt. */
    readonly securityContact: string | undefined
  }
>()("agent-tool-billing/adapters/http/HttpSettings") {}

const WINDOW_MS = 60_000
/** A person who reloads a console must not exhaust the limit of the account's agents. */
const CONSOLE_READS_RPM = 240
/** Sent by the pages of the consoles. Any client can send it: reads have this second limit then, writes and calls do not. */
const CONSOLE_HEADER = "x-console"
const PROBES_MAX = 1_000_000

/** `X-RateLimit-*`, for the limit that was checked last. */
type LimitHeaders = Readonly<Record<string, string>>

/**
 * Limits by address, for registrations, sign-ins and wrong keys too, and by key; counted in memory, or in Redis for several
 * nodes. If the counter's store fails, requests pass: a failed limiter must not take the service down.
 */
export class RateLimits extends Context.Service<
  RateLimits,
  {
    address(address: string): Effect.Effect<LimitHeaders, RateLimited>
    registration(address: string): Effect.Effect<LimitHeaders, RateLimited>
    signIn(address: string): Effect.Effect<LimitHeaders, RateLimited>
    wrongKey(address: string): Effect.Effect<LimitHeaders, RateLimited>
    key(principal: Principal): Effect.Effect<LimitHeaders, RateLimited>
    consoleReads(principal: Principal): Effect.Effect<LimitHeaders, RateLimited>
    /** Checks that requests are counted, jointly by all nodes where configured. If not, the service is degraded. */
    readonly probe: Probe
  }
>()("agent-tool-billing/adapters/http/RateLimits") {
  static readonly layer = Layer.effect(
    RateLimits,
    Effect.gen(function* () {
      const limiter = yield* RateLimiter.RateLimiter
      const { rateLimits: settings } = yield* HttpSettings
      const standing = yield* RateLimitState

      const consume = (key: string, limit: number): Effect.Effect<LimitHeaders, RateLimited> =>
        limit <= 0
          ? unlimited
          : limiter.consume({ key, limit, window: WINDOW_MS, algorithm: "token-bucket" }).pipe(
              Effect.map((result) => headersOf(limit, result.remaining, Duration.toMillis(result.resetAfter))),
              Effect.catchReason(
                "RateLimiterError",
                "RateLimitExceeded",
                (exceeded) => Effect.fail(rejection(limit, Duration.toMillis(exceeded.retryAfter))),
                (broken) =>
                  Effect.as(Effect.logWarning("The rate limiter's store failed; the request passes", broken), none)
              )
            )

      const byNetwork = (what: string, address: string, limit: number) =>
        address === UNKNOWN_ADDRESS ? unlimited : consume(`${what}:${networkOf(address)}`, limit)

      return RateLimits.of({
        address: (address) => byNetwork("address", address, settings.addressRpm),
        registration: (address) => byNetwork("register", address, settings.registrationRpm),
        signIn: (address) => byNetwork("sign-in", address, settings.signInRpm),
        wrongKey: (address) => byNetwork("wrong-key", address, settings.wrongKeyRpm),
        key: (principal) => {
          if (!settings.keysLimited) return unlimited
          const account = consume(`${principal.role}:${principal.ownerId}`, principal.rateLimitRpm)
          // From the lowest level up: a key that is over its own limit does not use up that of the account.
          return principal.role === "consumer" && principal.levels.length > 0
            ? principal.levels.reduce(
                (above, { id, rateLimitRpm }) =>
                  rateLimitRpm === undefined ? above : Effect.andThen(consume(`level:${id}`, rateLimitRpm), above),
                account
              )
            : account
        },
        consoleReads: (principal) =>
          settings.keysLimited
            ? consume(`console:${principal.role}:${principal.ownerId}`, CONSOLE_READS_RPM)
            : unlimited,
        probe: {
          name: "rate_limits",
          critical: false,
          limitMs: 1_000,
          slowMs: 250,
          ask: limiter.consume({ key: "health", limit: PROBES_MAX, window: WINDOW_MS, algorithm: "token-bucket" }).pipe(
            Effect.catchReason("RateLimiterError", "RateLimitExceeded", () => Effect.void),
            Effect.orDie,
            Effect.map(() => standing.problem())
          )
        }
      })
    })
  )
}

const none: LimitHeaders = {}
const unlimited = Effect.succeed(none)

/** One request is allowed after `retryAfterMs`, the others follow one by one. */
const rejection = (limit: number, retryAfterMs: number): RateLimited =>
  new RateLimited({
    limit,
    retryAfterSeconds: Math.max(1, seconds(retryAfterMs)),
    resetAfterSeconds: seconds(retryAfterMs + ((limit - 1) * WINDOW_MS) / limit)
  })

const seconds = (millis: number): number => Math.ceil(millis / 1_000)

const headersOf = (limit: number, remaining: number, resetAfterMs: number): LimitHeaders => ({
  "x-ratelimit-limit": String(limit),
  "x-ratelimit-remaining": String(Math.max(0, Math.floor(remaining))),
  "x-ratelimit-reset": String(seconds(resetAfterMs))
})

/** The stages, in the order of their checks: by address, by key, and by address for registrations. */
export const makeLimits = Effect.map(RateLimits, (limits) => {
  const byAddress: Stage = (context, next) =>
    context.route.rule.unlimited ? next(context) : limit(limits.address(context.clientAddress), context, next)

  const byKey: Stage = (context, next) =>
    context.caller === undefined
      ? next(context)
      : limit(
          isConsoleRead(context) ? limits.consoleReads(context.caller) : limits.key(context.caller),
          context,
          next,
          context.route.answerLimited
        )

  const registrations: Stage = (context, next) =>
    context.route.rule.registration ? limit(limits.registration(context.clientAddress), context, next) : next(context)

  /** Counts failures only, so that wrong keys do not lock out a right one of the same network. */
  const wrongKeys: Stage = (context, next) =>
    Effect.catchIf(next(context), hasWrongKey, (error) => {
      const { clientAddress } = context
      return error instanceof WrongOperatorKey
        ? limit(limits.signIn(clientAddress), context, () =>
            Effect.andThen(
              Effect.logWarning(`A sign-in as the operator from ${clientAddress} was rejected`),
              Effect.fail(error)
            )
          )
        : limit(limits.wrongKey(clientAddress), context, () => Effect.fail(error))
    })

  return { byAddress, byKey, registrations, wrongKeys }
})

const hasWrongKey = (error: Failure): boolean =>
  error instanceof WrongOperatorKey ||
  (error instanceof Unauthorized && error.reason !== "missing") ||
  (error instanceof MetricsRejected && error.hasToken)

/** No console opens streams of an MCP door, and each of those opens another at the provider's server. */
const isConsoleRead = ({ caller, request, route: { method, rule } }: RequestContext): boolean =>
  method === "GET" &&
  !rule.door &&
  header(request, CONSOLE_HEADER) !== undefined &&
  !(caller?.role === "consumer" && caller.levels.length > 0)

/** The response carries the headers of the limit that was checked last. */
const limit = (
  checked: Effect.Effect<LimitHeaders, RateLimited>,
  context: RequestContext,
  next: Next,
  answerLimited?: Route["answerLimited"]
): Effect.Effect<EncodedReply, Failure> => {
  const passed = (headers: LimitHeaders) => {
    context.limitHeaders = headers
    return next(context)
  }
  return answerLimited === undefined
    ? Effect.flatMapEager(checked, passed)
    : Effect.matchEffect(checked, { onFailure: (error) => answerLimited(context, error), onSuccess: passed })
}

// Identifies the caller by the request's key, or by the cookie of an operator's session, and checks that the endpoint admits its role.

export const makeAuthentication = Effect.gen(function* () {
  const authentication = yield* Authentication
  const levels = yield* Levels
  const sessions = yield* OperatorSessions
  const baseUrl = yield* BaseUrl
  const isUnoperated = (yield* OperatorKey) === undefined
  const rolesOf = (rule: AccessRule): ReadonlyArray<Role> =>
    rule.openWithoutOperator && isUnoperated ? ANYONE : rule.roles

  const authenticate: Stage = (context, next) => {
    const { request, route } = context
    const rejection = route.answerUnauthenticated?.(request)
    if (rejection !== undefined) return Effect.succeed(rejection)
    const isOpen = rolesOf(route.rule).length === 0
    if (isOpen && !usesKey(route.rule)) return next(context)
    const credential = credentialOf(request)
    if (credential === "") {
      if (isOpen) return next(context)
      const token = route.rule.roles.includes("operator") ? sessionToken(request, baseUrl) : undefined
      if (token !== undefined) return bySession(token, context, next)
      const fault = bearerFault(request)
      return Effect.fail(
        fault === undefined ? new Unauthorized({ reason: "missing" }) : new AuthorizationRejected({ fault })
      )
    }
    const authenticated = authentication.authenticate(credential)
    // A key that is old, or another service's, is none where no role is required.
    const identified =
      route.rule.roles.length === 0
        ? Effect.catchTag(authenticated, "Unauthorized", () => Effect.undefined)
        : authenticated
    return Effect.flatMapEager(identified, (caller) => {
      context.caller = caller
      if (caller !== undefined && caller.role !== "operator") context.notes.owner_id = caller.ownerId
      return next(context)
    })
  }

  /** A call that names a run counts toward it, and may do no more than the run. After the limits, because runs are looked up. */
  const asRun: Stage = (context, next) => {
    const { caller, request, route } = context
    const runId = route.rule.scope === "call" ? header(request, RUN_HEADER) : undefined
    if (runId === undefined || caller?.role !== "consumer") return next(context)
    const rejected = new RunRejected({ runId: runId.slice(0, 100) })
    if (!isLevelId(runId)) return Effect.fail(rejected)
    const found = Effect.catchTag(levels.asRun(caller, runId), "RunNotFound", () => Effect.fail(rejected))
    return Effect.flatMap(found, (path) => {
      context.caller = { ...caller, levels: path }
      return next(context)
    })
  }

  const bySession = (token: string, context: RequestContext, next: Next) => {
    const { request } = context
    if (!isFromOwnPage(request, baseUrl)) return new NotFromOwnPage({ origin: header(request, "origin") })
    return Effect.flatMap(sessions.authenticate(token), (caller) => {
      context.caller = caller
      return next(context)
    })
  }

  const authorize: Stage = (context, next) => {
    const needed = rolesOf(context.route.rule)
    if (needed.length === 0) return next(context)
    const { caller } = context
    if (caller === undefined) return Effect.fail(new Unauthorized({ reason: "missing" }))
    if (!needed.includes(caller.role)) return Effect.fail(new WrongRole({ role: caller.role, needed }))
    const missing = caller.role === "consumer" ? missingScope(caller.levels, context.route.rule) : undefined
    return missing === undefined ? next(context) : Effect.fail(missing)
  }

  return { authenticate, authorize, asRun }
})

const missingScope = (levels: ReadonlyArray<Level>, { scope }: AccessRule): ScopeMissing | undefined => {
  if (levels.length === 0 || scope === "any") return undefined
  const scopes = scopesOf(levels)
  if (scopes === undefined || (scope !== "account" && scopes.includes(scope))) return undefined
  return new ScopeMissing({ needed: scope, scopes })
}

/** Empty where the request has none. */
export const credentialOf = (request: WebRequest): string =>
  bearer(request) || (header(request, "x-api-key")?.trim() ?? "")

const ANYONE: ReadonlyArray<Role> = []

/** Names a run below the key: its levels apply instead of the key's. */
const RUN_HEADER = "x-run-id"
const isLevelId = Schema.is(LevelId)

const usesKey = (rule: AccessRule): boolean => rule.keyOptional || rule.idempotent || rule.openWithoutOperator

/** Runs what a route asks of other systems before its unit of work begins. */
export const prepare: Stage = (context, next) => {
  const { route } = context
  if (route.prepare === undefined) return next(context)
  return Effect.flatMap(route.prepare(context), (prepared) => {
    context.prepared = prepared
    return next(context)
  })
}

// Decodes path, query and body by the endpoint's schemas.

/** Each part continues with the next: as generator functions these steps allocated more than the rest of a call's stages. */
export const decode: Stage = (context, next) => {
  const { pathParams, request, route } = context
  return Effect.flatMapEager(route.decodeParams?.(pathParams) ?? Effect.undefined, (params) => {
    context.params = params
    return Effect.flatMapEager(route.decodeQuery?.(request.query) ?? Effect.undefined, (query) => {
      context.query = query
      return route.takesBody ? decodeBody(context, next) : next(context)
    })
  })
}

const decodeBody: Stage = (context, next) => {
  const { clock, request, route } = context
  // Sending the body has its own time limit.
  clock.pause()
  return Effect.flatMap(readText(request, route.body.bytesMax), (text) => {
    clock.restart(0)
    context.text = text
    const decoded = Effect.flatMapEager(parseJson(text, route.body), (body) =>
      text.length < LONG_TEXT_CHARS_MIN
        ? route.decodePayload(body)
        : Effect.flatMap(ownTurn, () => route.decodePayload(body))
    )
    return Effect.flatMapEager(decoded, (payload) => {
      context.payload = payload
      return next(context)
    })
  })
}

// A request with an Idempotency-Key is executed once; a repetition gets the stored response.

export const makeReplay = Effect.map(Idempotency, ({ once }): Stage => {
  const onceFor = (context: RequestContext, key: string) => {
    const { caller, request, route, text } = context
    return {
      scope: caller === undefined ? `address:${context.clientAddress}` : `${caller.role}:${idempotencyScope(caller)}`,
      key,
      request: `${request.method} ${request.path}?${request.query}\n${text}`,
      isShownOnce: route.rule.showsKey && caller === undefined
    }
  }

  return (context, next) => {
    const { ownIdempotency, rule } = context.route
    if (!rule.idempotent || ownIdempotency) return next(context)
    return Effect.flatMap(idempotencyKey(context.request), (key) => {
      if (key === undefined) return next(context)
      const done = once(
        onceFor(context, key),
        Effect.map(next(context), (reply) => JSON.stringify(reply))
      )
      return Effect.map(done, ({ answer, replayed }) => {
        context.isReplay = replayed
        return JSON.parse(answer) as EncodedReply
      })
    })
  }
})

// Records what the operator changes, in one unit of work with the change. A replay changes nothing and is not recorded.

export const makeRecordActions = Effect.map(AuditTrail, ({ audited, record }): Stage => {
  return (context, next) => {
    const { caller, clientAddress: address, pathParams, route } = context
    const { action } = route.rule
    if (action === undefined || caller?.role !== "operator") return next(context)
    const entry = {
      action,
      actor: actorOf(caller),
      sessionId: caller.session?.id,
      address,
      subject: Object.values(pathParams)[0],
      reason: reasonIn(context),
      details: detailsIn(context)
    }
    if (route.rule.idempotent) return audited(next(context), entry)
    // It commits in units of work of its own, and some of them before a client disconnects or the time is up.
    return next(context).pipe(
      Effect.tap(() => record(entry)),
      Effect.onInterrupt(() => Effect.ignoreCause(record(entry)))
    )
  }
})

/** A long text must not push an amount or a decision out of the details. */
const TEXT_CHARS_MAX = 500

/** The body's text: white space and repeated members cannot hide what was done. */
const detailsIn = ({ text }: RequestContext): string | undefined =>
  text.trim() === "" ? undefined : JSON.stringify(JSON.parse(text), shortened)

const shortened = (_name: string, value: unknown): unknown =>
  typeof value === "string" && value.length > TEXT_CHARS_MAX ? `${value.slice(0, TEXT_CHARS_MAX)}…` : value

/** Bodies call it `reason`, or `note` in a decision. */
const reasonIn = ({ payload }: RequestContext): string | undefined => {
  const { note, reason } = (payload ?? {}) as { readonly note?: unknown; readonly reason?: unknown }
  const said = reason ?? note
  return typeof said === "string" && said !== "" ? said : undefined
}

// A request whose time is up gets its response at once, whatever its work waits for. The work is interrupted, unless it must
// not be, such as the settlement of a call: that runs to completion without its caller. When the scope closes, the time of
// every request is up, except for calls: `Metering` closes later, and lets them finish.

/** A shutdown waits this long for work whose caller got a response. The sweeper ends calls that are not done then. */
const LATE_WORK_WAIT_MAX = "10 seconds"

type Answer = Effect.Effect<EncodedReply, Failure>

export const makeTimeout = Effect.gen(function* () {
  const { requestTimeoutMs: timeoutMs } = yield* HttpSettings
  const deadlines = yield* makeDeadlines
  const late = new Set<Fiber.Fiber<unknown, unknown>>()
  let closing = false
  yield* Effect.addFinalizer(() =>
    Effect.suspend(() => {
      closing = true
      deadlines.endAll()
      return Effect.timeoutOption(Fiber.awaitAll(late), LATE_WORK_WAIT_MAX)
    })
  )

  const logUnseenFailure = (exit: Exit.Exit<unknown, unknown>, services: Context.Context<never>): void => {
    if (Exit.isSuccess(exit) || Cause.hasInterruptsOnly(exit.cause)) return
    Effect.runForkWith(services)(
      Effect.logWarning("Work that went on after its caller was answered failed", exit.cause)
    )
  }

  const timeout: Stage = (context, next) =>
    Effect.withFiber((caller) => {
      // Read now: a fiber that has ended has no context.
      const services = caller.context
      let early: Answer | undefined
      let resume: ((answer: Answer) => void) | undefined
      let continues: (() => boolean) | undefined
      const endWith = (answer: Answer): void => {
        late.add(worker)
        if (continues?.() !== true) worker.interruptUnsafe()
        early = answer
        resume?.(answer)
      }
      const deadline: Deadline = deadlines.start(timeoutMs, () => {
        // Asking would count as the caller's cancellation.
        if (closing && continues !== undefined) return
        endWith(Effect.fail(new RequestTimedOut({ kind: context.route.late })))
      })
      context.clock = {
        pause: () => deadline.restart(Number.POSITIVE_INFINITY),
        restart: (extraMs) => deadline.restart(timeoutMs + extraMs),
        registerDisconnect: (isContinued) => {
          continues = isContinued
        },
        answer: (reply) => {
          if (deadline.end()) endWith(Effect.succeed(reply))
        }
      }
      const worker = Effect.runForkWith(services)(Effect.suspend(() => next(context)))
      const ended = worker.pollUnsafe()
      if (ended !== undefined) {
        deadline.end()
        return ended
      }
      return Effect.callback<EncodedReply, Failure>((resumeCaller) => {
        if (early === undefined) resume = resumeCaller
        else resumeCaller(early)
        worker.addObserver((exit) => {
          deadline.end()
          if (late.size > 0 && late.delete(worker)) return logUnseenFailure(exit, services)
          resumeCaller(exit)
        })
        return Effect.suspend(() => {
          if (continues?.() !== true) return Fiber.interrupt(worker)
          late.add(worker)
          return Effect.void
        })
      })
    })
  return timeout
})
