/**
 * The stages that a request passes between its authentication and its response, each around the next.
 */
import { Cause, Clock, Context, Effect, Exit, Fiber, Semaphore } from "effect"
import { actorOf } from "../../../domain/accounts/Principal.ts"
import { AuditTrail } from "../../../domain/operator/AuditTrail.ts"
import { DiskWatch } from "../../../domain/platform/Health.ts"
import { ChangeFeed, concernsCatalog, onEachChange } from "../../../domain/shared/ChangeFeed.ts"
import { type Deadline, makeDeadlines } from "../../../domain/shared/Deadlines.ts"
import { makeFreshCache } from "../../../domain/shared/FreshCache.ts"
import { Idempotency } from "../../../domain/shared/Idempotency.ts"
import { LONG_TEXT_CHARS_MIN, ownTurn } from "../../../domain/shared/OwnTurn.ts"
import { StoreUnavailable } from "../../../domain/shared/StoreUnavailable.ts"
import { BaseUrl } from "../contract/BaseUrl.ts"
import { RequestTimedOut } from "./Failures.ts"
import type { HandlerError } from "./HandlerErrors.ts"
import type { Problem } from "./ProblemTable.ts"
import { internalError, problemOf, toAnswer } from "./Problems.ts"
import { parseJson, readText } from "./RequestBody.ts"
import type { Next, RequestContext, Stage } from "./RequestContext.ts"
import type { EncodedReply } from "./Route.ts"
import { addHeaders, cacheControl, idempotencyKey, json, varyOf, type WebResponse } from "./WebRequest.ts"

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

export const decode: Stage = (context, next) => {
  const { decodeParams, decodeQuery, takesBody } = context.route
  return takesBody || decodeParams !== undefined || decodeQuery !== undefined
    ? decodeParts(context, next)
    : next(context)
}

const decodeParts = Effect.fnUntraced(function* (
  context: RequestContext,
  next: Next
): Effect.fn.Return<EncodedReply, HandlerError> {
  const { clock, pathParams, request, route } = context
  if (route.decodeParams !== undefined) context.params = yield* route.decodeParams(pathParams)
  if (route.decodeQuery !== undefined) context.query = yield* route.decodeQuery(request.query)
  if (route.takesBody) {
    // Sending the body has its own time limit.
    clock.pause()
    context.text = yield* readText(request, route.body.bytesMax)
    clock.restart(0)
    const body = yield* parseJson(context.text, route.body)
    if (context.text.length >= LONG_TEXT_CHARS_MIN) yield* ownTurn
    context.payload = yield* route.decodePayload(body)
  }
  return yield* next(context)
})

// A request with an Idempotency-Key is executed once; a repetition gets the stored response.

export const makeReplay = Effect.map(Idempotency, ({ once }): Stage => {
  const onceFor = (context: RequestContext, key: string) => {
    const { caller, request, route, text } = context
    return {
      scope: caller === undefined ? `address:${context.clientAddress}` : `${caller.role}:${caller.ownerId}`,
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

/** As it was read: white space and repeated members cannot hide what was done. */
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

// Caches responses to public reads as text for a short time, because most clients request the same first page. All are
// dropped when the catalog or an account changes.

export const READS_CACHED_MAX = 1_000
export const READ_CACHE_TTL_MS = 2_000
/** Larger responses, such as pages of large schemas, are not cached. */
const REPLY_CHARS_MAX = 262_144

export const makeReadCache = Effect.gen(function* () {
  const feed = yield* ChangeFeed
  const kept = yield* makeFreshCache<EncodedReply>({ entriesMax: READS_CACHED_MAX, ttlMs: READ_CACHE_TTL_MS })

  yield* onEachChange(feed, (change) => {
    if (concernsCatalog(change)) kept.forgetAll()
  })

  const cacheReads: Stage = (context, next) => {
    const { request, route } = context
    if (!route.rule.cacheable) return next(context)
    const key = `${request.path}?${request.query}`
    return Effect.suspend(() =>
      kept.readThrough(
        key,
        Effect.suspend(() => next(context)),
        isCacheable
      )
    )
  }
  return cacheReads
})

const isCacheable = (reply: EncodedReply): boolean => reply.status === 200 && reply.body.length <= REPLY_CHARS_MAX

// Reads of one account run a few at a time, and the others wait. A page deep in a long list takes the database a second:
// without this, one account could occupy every connection, and the reads of all others would wait.

/** Of one account on each node: less than half of the connections to the database, by default. */
export const READS_AT_ONCE_MAX = 4

interface Reading {
  readonly turn: Semaphore.Semaphore
  /** Running or waiting. Their number is limited by the connections of an address. */
  count: number
}

export const makeFairReads = (): Stage => {
  const accounts = new Map<string, Reading>()

  const enter = (owner: string): Reading => {
    const reading = accounts.get(owner) ?? { turn: Semaphore.makeUnsafe(READS_AT_ONCE_MAX), count: 0 }
    accounts.set(owner, reading)
    reading.count++
    return reading
  }

  const leave = (owner: string, reading: Reading): void => {
    if (--reading.count === 0) accounts.delete(owner)
  }

  return (context, next) => {
    const owner = ownerOfRead(context)
    if (owner === undefined) return next(context)
    return Effect.acquireUseRelease(
      Effect.sync(() => enter(owner)),
      ({ turn }) => turn.withPermits(1)(Effect.suspend(() => next(context))),
      (reading) => Effect.sync(() => leave(owner, reading))
    )
  }
}

/** Undefined for what does not wait: writes, streams of MCP doors, and reads of the operator or without a key. */
const ownerOfRead = ({ caller, route: { method, rule } }: RequestContext): string | undefined =>
  method !== "GET" || rule.door || caller === undefined || caller.role === "operator" ? undefined : caller.ownerId

// A request whose time is up gets its response at once, whatever its work waits for. The work is interrupted, unless it must
// not be, such as the settlement of a call: that runs to completion without its caller. When the scope closes, the time of
// every request is up, except for calls: `Metering` closes later, and lets them finish.

export const RequestTimeoutMs = Context.Reference<number>("agent-tool-billing/adapters/http/RequestTimeoutMs", {
  defaultValue: () => 30_000
})

/** How long a shutdown waits for work whose caller got a response already. The sweeper ends calls that are not done then. */
const LATE_WORK_WAIT_MAX = "10 seconds"

type Answer = Effect.Effect<EncodedReply, HandlerError>

export const makeTimeout = Effect.gen(function* () {
  const timeoutMs = yield* RequestTimeoutMs
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
        // To ask would count as the caller's cancellation.
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
      return Effect.callback<EncodedReply, HandlerError>((resumeCaller) => {
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

// Turns the result of a request into its response: a reply, a problem for a rejection, or a problem for a defect.

export const makeRespond = Effect.gen(function* () {
  const baseUrl = yield* BaseUrl
  const disk = yield* DiskWatch

  const problemAnswer = (context: RequestContext, problem: Problem): WebResponse =>
    withHeaders(context, toAnswer(problem, context.requestId, context.request.path, baseUrl))

  const rejected = (context: RequestContext, rejection: HandlerError): WebResponse => {
    const { compatibility: quirks } = context.route
    return quirks !== undefined && rejection._tag === "BadRequest"
      ? withHeaders(context, json(400, quirks.badRequest, { "cache-control": "no-store" }))
      : problemAnswer(context, problemOf(rejection, baseUrl))
  }

  const failed = (context: RequestContext, cause: Cause.Cause<HandlerError>): Effect.Effect<WebResponse> => {
    if (storeFailuresIn(cause).length > 0) return storeFailed(context, cause)
    const rejection = errorIn(cause)
    if (rejection === undefined) return broken(context, cause)
    const answer = rejected(context, rejection)
    if (rejection._tag === "SignerUnavailable") return Effect.as(Effect.logError(rejection.message, cause), answer)
    return rejection._tag === "RequestTimedOut"
      ? Effect.as(Effect.logWarning("A request was not answered in time"), answer)
      : Effect.succeed(answer)
  }

  const storeFailed = Effect.fnUntraced(function* (
    context: RequestContext,
    cause: Cause.Cause<HandlerError>
  ): Effect.fn.Return<WebResponse> {
    const failures = storeFailuresIn(cause)
    yield* Effect.logError("A request failed because the database is unavailable", failures[0]!.detail, cause)
    if (failures.some(({ reason }) => reason === "disk_full")) disk.rejected(yield* Clock.currentTimeMillis)
    return rejected(context, failures[0]!)
  })

  const broken = Effect.fnUntraced(function* (
    context: RequestContext,
    cause: Cause.Cause<HandlerError>
  ): Effect.fn.Return<WebResponse> {
    // The caller disconnected: there is no client to respond to.
    if (Cause.hasInterruptsOnly(cause)) return yield* Effect.interrupt
    yield* Effect.logError("A request ended in a defect", cause)
    return problemAnswer(context, internalError)
  })

  return (handle: Next): Next<WebResponse, never> =>
    (context) =>
      Effect.matchCauseEffect(handle(context), {
        onFailure: (cause) => failed(context, cause),
        onSuccess: (reply) => Effect.succeed(replied(context, reply))
      })
})

/** The typed failure, if it is the only reason. */
const errorIn = (cause: Cause.Cause<HandlerError>): HandlerError | undefined => {
  const [only, ...others] = cause.reasons
  return only?._tag === "Fail" && others.length === 0 ? only.error : undefined
}

/** Among any reasons. A defect if some cleanup failed for the same reason. */
const storeFailuresIn = (cause: Cause.Cause<HandlerError>): ReadonlyArray<StoreUnavailable> =>
  cause.reasons
    .map((reason) => (reason._tag === "Fail" ? reason.error : reason._tag === "Die" ? reason.defect : undefined))
    .filter((failure) => failure instanceof StoreUnavailable)

const withHeaders = (context: RequestContext, answer: WebResponse): WebResponse =>
  addHeaders(answer, context.requestId, { ...context.headers, ...context.limitHeaders })

const replied = (context: RequestContext, { body, headers, status }: EncodedReply): WebResponse => {
  const { rule } = context.route
  const answer = body.length === 0 ? { status, headers, body } : json(status, body, headers)
  return addHeaders(answer, context.requestId, {
    ...context.headers,
    ...context.limitHeaders,
    "cache-control": cacheControl(context.route.method, rule, context.caller),
    vary: varyOf(rule),
    ...(context.isReplay ? { "idempotent-replay": "true" } : undefined)
  })
}
