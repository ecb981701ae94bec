/**
 * A request while it passes the stages. Each stage writes its results; later stages, the handler and the log read them.
 */
import { Clock, Effect } from "effect"
import type { Principal, Role } from "../../../domain/accounts/Principal.ts"
import { Entropy } from "../../../domain/shared/Cryptography.ts"
import { monotonicMs } from "../../../domain/shared/Time.ts"
import type { HandlerError } from "./HandlerErrors.ts"
import { eventStarter, progressSender } from "./ProgressEvents.ts"
import type { AnyInput, EncodedReply, RequestClock, Route } from "./Route.ts"
import type { Routing } from "./Routing.ts"
import {
  acceptableRequestId,
  acceptableTraceparent,
  clientAddress,
  crossOrigin,
  header,
  TrustedProxyRanges,
  varyOf,
  type WebRequest
} from "./WebRequest.ts"

export interface RequestContext extends AnyInput {
  readonly route: Route
  /** The caller's own, if it is well formed. */
  readonly traceparent: string | undefined
  readonly startedMs: number
  /** Headers of the response whatever its status: CORS and trace. */
  readonly headers: Readonly<Record<string, string>>
  /** Written by the timeout. */
  clock: RequestClock
  /** Written by the limit that was checked last. */
  limitHeaders: Readonly<Record<string, string>>
  /** Written by authentication. */
  caller: Principal | undefined
  /** Written by decoding. */
  params: unknown
  query: unknown
  payload: unknown
  text: string
  /** Written by preparation. */
  prepared: unknown
  /** Written by the replay of idempotent requests. */
  isReplay: boolean
}

export type Next<A = EncodedReply, E = HandlerError> = (context: RequestContext) => Effect.Effect<A, E>

/** Continues with `next`, or ends the request without it. The stages before it process its result in reverse order. */
export type Stage<A = EncodedReply, E = HandlerError> = (
  context: RequestContext,
  next: Next<A, E>
) => Effect.Effect<A, E>

export const inOrder = <A, E>(stages: ReadonlyArray<Stage<A, E>>, last: Next<A, E>): Next<A, E> =>
  stages.reduceRight<Next<A, E>>((next, stage) => (context) => stage(context, next), last)

export const makeRequestContext = Effect.fnUntraced(function* ({ find }: Routing) {
  const entropy = yield* Entropy
  const trusted = yield* TrustedProxyRanges
  const clock = yield* Clock.Clock

  const contextOf = (request: WebRequest, requestId: string): RequestContext => {
    const { params, route } = find(request)
    const { method, path, rule } = route
    const traceparent = acceptableTraceparent(header(request, "traceparent"))
    const exposed = crossOrigin(header(request, "origin"))
    const headers = traceparent === undefined ? exposed : { ...exposed, traceparent }
    const startEvents = eventStarter(request, requestId, () => ({
      ...headers,
      ...context.limitHeaders,
      vary: varyOf(rule)
    }))
    const context: RequestContext = {
      request,
      route,
      pathParams: params,
      clientAddress: clientAddress(request, trusted),
      requestId,
      traceparent,
      startedMs: monotonicMs(clock),
      headers,
      notes: { request_id: requestId, method, route: path },
      sendEvent: progressSender(startEvents),
      startEvents,
      as: <R extends Role>(...roles: ReadonlyArray<R>) => callerAs(context, roles),
      clock: UNTIMED,
      limitHeaders: {},
      caller: undefined,
      params: undefined,
      query: undefined,
      payload: undefined,
      text: "",
      prepared: undefined,
      isReplay: false
    }
    return context
  }

  return (request: WebRequest): Effect.Effect<RequestContext> => {
    const given = acceptableRequestId(header(request, "x-request-id"))
    return given === undefined
      ? Effect.map(entropy.uuid, (requestId) => contextOf(request, requestId))
      : Effect.sync(() => contextOf(request, given))
  }
})

const UNTIMED: RequestClock = { pause: () => {}, restart: () => {}, registerDisconnect: () => {}, answer: () => {} }

const callerAs = <R extends Role>({ caller, route }: RequestContext, roles: ReadonlyArray<Role>) => {
  if (caller === undefined || !roles.includes(caller.role)) {
    const needed = roles.join(" or ")
    throw new Error(`${route.method} ${route.path} needs the role ${needed}, but its access rule admits others`)
  }
  return caller as Extract<Principal, { readonly role: R }>
}
