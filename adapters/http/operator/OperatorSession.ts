/**
 * The operator's session and the audit trail over HTTP.
 */
import { Effect } from "effect"
import type { OperatorSession, Principal } from "../../../domain/accounts/Authentication.ts"
import { type AuditEntry, AuditTrail } from "../../../domain/operator/AuditTrail.ts"
import { OperatorSessions } from "../../../domain/operator/OperatorSessions.ts"
import { UnitOfWork } from "../../../domain/shared/StoreUnavailable.ts"
import { format } from "../../../domain/shared/Time.ts"
import { BaseUrl } from "../contract/BaseUrl.ts"
import { pageFields, pageRequest } from "../pipeline/Decoding.ts"
import { NotFromOwnPage } from "../pipeline/Failures.ts"
import { replyRoute, route } from "../pipeline/Route.ts"
import { endedCookie, header, isFromOwnPage, sessionCookie } from "../pipeline/WebRequest.ts"
import { OperatorSessionApi } from "./OperatorSessionApi.ts"

const { endpoints } = OperatorSessionApi

export const operatorSessionRoutes = Effect.gen(function* () {
  const sessions = yield* OperatorSessions
  const trail = yield* AuditTrail
  const { atomically } = yield* UnitOfWork
  const baseUrl = yield* BaseUrl

  const signIn = Effect.fnUntraced(function* (key: string, name: string, address: string) {
    const signedIn = yield* sessions.signIn(key, name)
    yield* trail.record({
      action: "session.create",
      actor: name,
      sessionId: signedIn.session.id,
      address,
      subject: undefined,
      reason: undefined,
      details: undefined
    })
    return signedIn
  }, atomically)

  return [
    replyRoute(endpoints.signIn, function* ({ clientAddress, payload: { key, name }, request }) {
      const origin = header(request, "origin")
      if (origin !== undefined && !isFromOwnPage(request, baseUrl)) return yield* new NotFromOwnPage({ origin })
      const { session, token } = yield* signIn(key, name, clientAddress)
      return { status: 201, body: shown(session), headers: { "set-cookie": sessionCookie(baseUrl, token) } }
    }),
    route(endpoints.session, ({ as }) => Effect.succeed(shownOf(as("operator")))),
    replyRoute(endpoints.signOut, function* ({ as }) {
      const { session } = as("operator")
      const ended = session !== undefined && (yield* sessions.end(session.id))
      return { status: 200, body: { ended }, headers: { "set-cookie": endedCookie(baseUrl) } }
    }),
    replyRoute(endpoints.endSessions, function* () {
      return {
        status: 200,
        body: { ended: yield* sessions.endAll },
        headers: { "set-cookie": endedCookie(baseUrl) }
      }
    }),
    route(endpoints.auditTrail, function* ({ query }) {
      const page = yield* pageRequest("audit-trail", query)
      const found = yield* trail.list({ action: query.action, subject: query.subject }, page)
      return { entries: found.items.map(entryView), ...pageFields("audit-trail", page, found) }
    })
  ]
})

const shown = ({ expiresAt, id, name }: OperatorSession) => ({
  session_id: id,
  name,
  expires_at: format(expiresAt)
})

const shownOf = ({ session }: Extract<Principal, { readonly role: "operator" }>) =>
  session === undefined ? { session_id: null, name: "API key", expires_at: null } : shown(session)

const entryView = (entry: AuditEntry) => ({
  entry_id: entry.id,
  at: format(entry.at),
  action: entry.action,
  actor: entry.actor,
  session_id: entry.sessionId ?? null,
  address: entry.address,
  subject: entry.subject ?? null,
  reason: entry.reason ?? null,
  details: entry.details ?? null
})
