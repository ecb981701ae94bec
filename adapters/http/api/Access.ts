/**
 * Who may call an endpoint. `KeyAuth` puts the bearer scheme into the OpenAPI document; `Access` says which roles pass.
 */
import { Context } from "effect"
import { HttpApiMiddleware, HttpApiSecurity, OpenApi } from "effect/http-api"
import type { Role } from "../../../domain/accounts/Principal.ts"

export class KeyAuth extends HttpApiMiddleware.Service<KeyAuth>()("agent-tool-billing/adapters/http/KeyAuth", {
  security: {
    apiKey: HttpApiSecurity.bearer.pipe(
      HttpApiSecurity.annotateMerge(
        OpenApi.annotations({
          description: "The key that registration showed once: `Authorization: Bearer atb_c_…` or `atb_p_…`."
        })
      )
    )
  }
}) {}

export interface AccessRule {
  /** None: anybody, with or without a key. */
  readonly roles: ReadonlyArray<Role>
  /** Counted against the stricter limit for registrations. */
  readonly registration: boolean
  /** A public read that may be cached for a minute. */
  readonly cacheable: boolean
  /** Takes an `Idempotency-Key`; effect and record are one unit of work. */
  readonly idempotent: boolean
  /** Its answer shows a new API key: it is not stored for an anonymous caller, whose address others share. */
  readonly showsKey: boolean
  /** Anybody may read it, and whoever sends a key may see more. */
  readonly keyOptional: boolean
  /** Asked by machines that watch the service: never refused for being asked too often. */
  readonly unlimited: boolean
  /** Open to anybody where no operator key is configured. */
  readonly openWithoutOperator: boolean
}

export const Access = Context.Reference<AccessRule>("agent-tool-billing/adapters/http/Access", {
  defaultValue: () => rule({})
})

const rule = (overrides: Partial<AccessRule>): AccessRule => ({
  roles: [],
  registration: false,
  cacheable: false,
  idempotent: false,
  showsKey: false,
  keyOptional: false,
  unlimited: false,
  openWithoutOperator: false,
  ...overrides
})

export const publicRead = rule({ cacheable: true })
export const uncached = rule({})
export const uncachedWithKey = rule({ keyOptional: true })
export const probe = rule({ unlimited: true })
export const publicWrite = rule({ idempotent: true })
export const registration = rule({ registration: true, idempotent: true })
export const accountRegistration = rule({ registration: true, idempotent: true, showsKey: true })
export const readBy = (...roles: ReadonlyArray<Role>): AccessRule => rule({ roles })
export const writeBy = (...roles: ReadonlyArray<Role>): AccessRule => rule({ roles, idempotent: true })
export const operatorIfConfigured = rule({ roles: ["operator"], openWithoutOperator: true })
