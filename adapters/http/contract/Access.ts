/**
 * Who may call an endpoint, and what it is for. `KeyAuth` adds the bearer scheme to the OpenAPI document; `Access` names the
 * roles that pass.
 */
import { Context } from "effect"
import { HttpApiMiddleware, HttpApiSecurity, OpenApi } from "effect/http-api"
import type { Role } from "../../../domain/accounts/Authentication.ts"
import type { AuditedAction } from "../../../domain/operator/AuditTrail.ts"

export class KeyAuth extends HttpApiMiddleware.Service<KeyAuth>()("agent-tool-billing/adapters/http/KeyAuth", {
  security: {
    apiKey: HttpApiSecurity.bearer.pipe(
      HttpApiSecurity.annotateMerge(
        OpenApi.annotations({
          description: "API key from registration: `Authorization: Bearer atb_c_…` (consumer) or `atb_p_…` (provider)."
        })
      )
    )
  }
}) {}

export interface AccessRule {
  /** None: any client, with or without a key. */
  readonly roles: ReadonlyArray<Role>
  /** Counts against the stricter limit for registrations. */
  readonly registration: boolean
  /** A public read that may be cached for a minute. */
  readonly cacheable: boolean
  /** Takes an `Idempotency-Key`; effect and record are one unit of work. */
  readonly idempotent: boolean
  /** The response contains a new API key: it is not stored for an unauthenticated caller, whose address others share. */
  readonly showsKey: boolean
  /** Public, but a valid key may reveal more. */
  readonly keyOptional: boolean
  /** For health probes: no rate limit. */
  readonly unlimited: boolean
  /** Public where no operator key is configured. */
  readonly openWithoutOperator: boolean
  /** Speaks MCP. */
  readonly door: boolean
  /** How the audit trail names it, where the operator changes something. */
  readonly action: AuditedAction | undefined
}

export const Access = Context.Reference<AccessRule>("agent-tool-billing/adapters/http/Access", {
  defaultValue: () => rule({})
})

const rule = <const Overrides extends Partial<AccessRule>>(
  overrides: Overrides
): Omit<PublicRule, keyof Overrides> & Overrides => ({
  roles: [],
  registration: false,
  cacheable: false,
  idempotent: false,
  showsKey: false,
  keyOptional: false,
  unlimited: false,
  openWithoutOperator: false,
  door: false,
  action: undefined,
  ...overrides
})

/** Without overrides. The types show which problems follow from a rule. */
export interface PublicRule extends AccessRule {
  readonly roles: readonly []
  readonly registration: false
  readonly idempotent: false
}

export const publicRead = rule({ cacheable: true })
export const uncached = rule({})
export const uncachedWithKey = rule({ keyOptional: true })
export const probe = rule({ unlimited: true })
export const registration = rule({ registration: true, idempotent: true })
export const accountRegistration = rule({ registration: true, idempotent: true, showsKey: true })
export const readBy = (...roles: ReadonlyArray<Role>) => rule({ roles })
export const writeBy = (...roles: ReadonlyArray<Role>) => rule({ roles, idempotent: true })
export const operatorAction = (action: AuditedAction) =>
  rule({ roles: ["operator"] as ReadonlyArray<Role>, idempotent: true, action })
/** In units of work of its own, and safe to repeat. */
export const operatorRun = (action: AuditedAction) => rule({ roles: ["operator"] as ReadonlyArray<Role>, action })
export const operatorIfConfigured = rule({ roles: ["operator"], openWithoutOperator: true, action: "schema.update" })
export const mcpDoor = rule({ roles: ["consumer"], door: true })
