/**
 * Rate limits by address, by address for registrations and wrong keys, and by key; counted in memory, or in Redis for several
 * nodes. If the counter's store fails, requests pass: a failed limiter must not take the service down.
 */
import { Context, Duration, Effect, Layer } from "effect"
import { RateLimiter } from "effect/persistence"
import type { Principal } from "../../../domain/accounts/Principal.ts"
import { type Probe, RateLimitState } from "../../../domain/platform/Health.ts"
import { RateLimited } from "./Failures.ts"
import type { HandlerError } from "./HandlerErrors.ts"
import type { Next, RequestContext, Stage } from "./RequestContext.ts"
import type { EncodedReply, Route } from "./Route.ts"
import { header, networkOf, UNKNOWN_ADDRESS } from "./WebRequest.ts"

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

export const RateLimitSettings = Context.Reference<RateLimitSettings>(
  "agent-tool-billing/adapters/http/RateLimitSettings",
  {
    defaultValue: () => ({
      addressRpm: 600,
      registrationRpm: 30,
      signInRpm: SIGN_INS_PER_MINUTE_MAX,
      wrongKeyRpm: WRONG_KEYS_PER_MINUTE_MAX,
      keysLimited: true
    })
  }
)

const WINDOW_MS = 60_000
/** Of one account. A person who reloads a console must not exhaust the limit of the account's agents. */
const CONSOLE_READS_RPM = 240
/** Sent by the pages of the consoles. Any client can send it: reads have this second limit then, writes and calls do not. */
const CONSOLE_HEADER = "x-console"
const PROBES_MAX = 1_000_000

/** `X-RateLimit-*`, for the limit that was checked last. */
type LimitHeaders = Readonly<Record<string, string>>

export class RateLimits extends Context.Service<
  RateLimits,
  {
    address(address: string): Effect.Effect<LimitHeaders, RateLimited>
    registration(address: string): Effect.Effect<LimitHeaders, RateLimited>
    signIn(address: string): Effect.Effect<LimitHeaders, RateLimited>
    wrongKey(address: string): Effect.Effect<LimitHeaders, RateLimited>
    key(principal: Principal): Effect.Effect<LimitHeaders, RateLimited>
    consoleReads(principal: Principal): Effect.Effect<LimitHeaders, RateLimited>
    /** Whether requests are counted, and jointly by all nodes where configured. If not, the service is degraded, not down. */
    readonly probe: Probe
  }
>()("agent-tool-billing/adapters/http/RateLimits") {
  static readonly layer = Layer.effect(
    RateLimits,
    Effect.gen(function* () {
      const limiter = yield* RateLimiter.RateLimiter
      const settings = yield* RateLimitSettings
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
        key: (principal) =>
          settings.keysLimited ? consume(`${principal.role}:${principal.ownerId}`, principal.rateLimitRpm) : unlimited,
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
      return error._tag === "WrongOperatorKey"
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

const hasWrongKey = (error: HandlerError): boolean =>
  error._tag === "WrongOperatorKey" ||
  (error._tag === "Unauthorized" && error.reason !== "missing") ||
  (error._tag === "MetricsRejected" && error.hasToken)

/** No console opens streams of an MCP door, and each of those opens another at the provider's server. */
const isConsoleRead = ({ request, route: { method, rule } }: RequestContext): boolean =>
  method === "GET" && !rule.door && header(request, CONSOLE_HEADER) !== undefined

/** The response carries the headers of the limit that was checked last. */
const limit = (
  checked: Effect.Effect<LimitHeaders, RateLimited>,
  context: RequestContext,
  next: Next,
  answerLimited?: Route["answerLimited"]
): Effect.Effect<EncodedReply, HandlerError> =>
  Effect.matchEffect(checked, {
    onFailure: (error) => (answerLimited === undefined ? Effect.fail(error) : answerLimited(context, error)),
    onSuccess: (headers) => {
      context.limitHeaders = headers
      return next(context)
    }
  })
