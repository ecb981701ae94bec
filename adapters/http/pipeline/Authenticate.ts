/**
 * Identifies the caller by the request's key, or by the cookie of an operator's session, and checks that the endpoint admits its role.
 */
import { Effect } from "effect"
import { Authentication, OperatorKey, Unauthorized } from "../../../domain/accounts/Authentication.ts"
import type { Role } from "../../../domain/accounts/Principal.ts"
import { OperatorSessions } from "../../../domain/operator/OperatorSessions.ts"
import type { AccessRule } from "../contract/Access.ts"
import { BaseUrl } from "../contract/BaseUrl.ts"
import { AuthorizationRejected, NotFromOwnPage, WrongRole } from "./Failures.ts"
import type { Next, RequestContext, Stage } from "./RequestContext.ts"
import { bearer, bearerFault, header, isFromOwnPage, sessionToken, type WebRequest } from "./WebRequest.ts"

export const makeAuthentication = Effect.gen(function* () {
  const authentication = yield* Authentication
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
    return Effect.matchEffect(authentication.authenticate(credential), {
      // A key that is old, or another service's, is none where no role is required.
      onFailure: (error) =>
        route.rule.roles.length === 0 && error._tag === "Unauthorized" ? next(context) : Effect.fail(error),
      onSuccess: (caller) => {
        context.caller = caller
        if (caller.role !== "operator") context.notes.owner_id = caller.ownerId
        return next(context)
      }
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
    return needed.includes(caller.role) ? next(context) : Effect.fail(new WrongRole({ role: caller.role, needed }))
  }

  return { authenticate, authorize }
})

/** Empty where the request has none. */
export const credentialOf = (request: WebRequest): string =>
  bearer(request) || (header(request, "x-api-key")?.trim() ?? "")

const ANYONE: ReadonlyArray<Role> = []

/** Whether an endpoint that requires no key uses one. */
const usesKey = (rule: AccessRule): boolean => rule.keyOptional || rule.idempotent || rule.openWithoutOperator
