/**
 * Declares an endpoint of the contract. What follows from its access and its input is added here: the bearer scheme, the
 * `Idempotency-Key`, and the problems of every such endpoint.
 */
import { Context, Effect, Schema } from "effect"
import type { HttpMethod, HttpRouter } from "effect/http"
import { HttpApiEndpoint, HttpApiMiddleware, HttpApiSecurity, OpenApi } from "effect/http-api"
import type { Role } from "../../../domain/accounts/Authentication.ts"
import type { Scope } from "../../../domain/accounts/Levels.ts"
import type { AuditedAction } from "../../../domain/operator/AuditTrail.ts"
import * as Field from "./Field.ts"
import { idempotencyHeader } from "./InputSchemas.ts"
import {
  type AlwaysDeclared,
  type DeclaredStatus,
  type NamedCode,
  type ProblemCode,
  problems,
  type ProblemsOf,
  type ProblemStatus,
  statusOf as statusOfCode
} from "./Problem.ts"

// These say who may call an endpoint, and what it is for. `KeyAuth` adds the bearer scheme to the OpenAPI document; an
// `AccessRule` names the roles that pass.

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
  /** Health probes have no rate limit. */
  readonly unlimited: boolean
  /** Public where no operator key is configured. */
  readonly openWithoutOperator: boolean
  /**
   * What a key with bounds must have: a scope; `any`: nothing. `account`: only keys without bounds pass.
   */
  readonly scope: Scope | "any" | "account"
  /** Speaks MCP. */
  readonly door: boolean
  /** The action's name in the audit trail, if the operator changes something. */
  readonly action: AuditedAction | undefined
}

/** The annotation of every endpoint of the contract. */
export class Declared extends Context.Service<
  Declared,
  {
    readonly access: AccessRule
    /** The codes that it declares by name. */
    readonly codes: ReadonlyArray<ProblemCode>
  }
>()("agent-tool-billing/adapters/http/Declared") {}

export const declaredBy = ({ annotations }: Pick<HttpApiEndpoint.Top, "annotations">) =>
  Context.get(annotations as Context.Context<Declared>, Declared)

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
  scope: "account",
  door: false,
  action: undefined,
  ...overrides
})

/** A rule without overrides. The types show which problems follow from it. */
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
export const readBy = (...roles: ReadonlyArray<Role>) => rule({ roles, scope: "read" })
export const writeBy = (...roles: ReadonlyArray<Role>) => rule({ roles, idempotent: true })
/** Any valid key of these roles. */
export const anyKey = (...roles: ReadonlyArray<Role>) => rule({ roles, scope: "any" })
/** Calls, of tools or of runs that make them. */
export const callBy = (...roles: ReadonlyArray<Role>) => rule({ roles, scope: "call" })
/** Changes of keys, which check further what the caller may change. */
export const manageBy = (...roles: ReadonlyArray<Role>) => rule({ roles, scope: "manage", idempotent: true })
export const payoutBy = (...roles: ReadonlyArray<Role>) => rule({ roles, scope: "payouts", idempotent: true })
export const operatorAction = (action: AuditedAction) =>
  rule({ roles: ["operator"] as ReadonlyArray<Role>, idempotent: true, action })
/** A run of the operator in units of work of its own, safe to repeat. */
export const operatorRun = (action: AuditedAction) => rule({ roles: ["operator"] as ReadonlyArray<Role>, action })
export const operatorIfConfigured = rule({ roles: ["operator"], openWithoutOperator: true, action: "schema.update" })
export const mcpDoor = rule({ roles: ["consumer"], scope: "call", door: true })

interface Declaration<Params, Query, Payload, Success, Rule, Problems> {
  readonly access: Rule & AccessRule
  readonly summary: string
  readonly description?: string
  readonly params?: Params
  readonly query?: Query
  readonly headers?: Schema.Struct.Fields
  readonly payload?: Payload
  readonly success: Success
  /** Further problems: their statuses, and codes that do not come with their status. */
  readonly problems?: ReadonlyArray<Problems & (ProblemStatus | NamedCode)>
}

/** Handlers may fail with these only. */
export interface Declares<Status extends ProblemStatus, Named extends NamedCode> {
  readonly "~Problems": Status
  readonly "~Named": Named
}

type Given<Part, Status> = [Part] extends [never] ? never : Status

/** The type of `impliedProblems`. */
type Implied<Params, Query, Payload, Rule> =
  | AlwaysDeclared
  | (Rule extends { readonly roles: readonly [] } ? never : 401 | 403)
  | Given<Params, 404>
  | Given<Query, 400>
  | Given<Payload, 400 | 413 | 415>
  | (Rule extends { readonly idempotent: true } ? 400 | 409 : never)

type NamedBy<Rule, Problems> =
  | Extract<Problems, NamedCode>
  | (Rule extends { readonly idempotent: true } ? "IDEMPOTENCY_CONFLICT" : never)

type StructOf<Fields> = [Fields] extends [Schema.Struct.Fields] ? Schema.Struct<Fields> : never
type OneOf<Schemas> = Schemas extends ReadonlyArray<infer S extends Schema.Top> ? S : Schemas & Schema.Top

const declare =
  <Method extends HttpMethod.HttpMethod>(method: Method) =>
  <
    const Identifier extends string,
    const Path extends HttpRouter.PathInput,
    const Success extends Schema.Top | ReadonlyArray<Schema.Top>,
    Params extends Schema.Struct.Fields = never,
    Query extends Schema.Struct.Fields = never,
    Payload extends Schema.Top = never,
    const Rule extends AccessRule = AccessRule,
    const Problems extends ProblemStatus | NamedCode = never
  >(
    identifier: Identifier,
    path: Path,
    declaration: Declaration<Params, Query, Payload, Success, Rule, Problems>
  ) => {
    const { access, description, params, payload, query, success, summary } = declaration
    const declared: ReadonlyArray<ProblemStatus | NamedCode> = declaration.problems ?? []
    const codes = declared.filter((problem) => typeof problem === "string")
    const headers = { ...(access.idempotent ? idempotencyHeader : {}), ...declaration.headers }
    const endpoint = HttpApiEndpoint.make<HttpMethod.HttpMethod>(method)(identifier, path, {
      params: params as Schema.Struct.Fields | undefined,
      query: query as Schema.Struct.Fields | undefined,
      headers: Object.keys(headers).length === 0 ? undefined : headers,
      payload: payload as never,
      success,
      error: problems(
        ...impliedProblems(declaration),
        ...declared.map((problem) => (typeof problem === "string" ? statusOfCode(problem) : problem))
      )
    }).annotateMerge(
      Context.empty().pipe(
        Context.merge(OpenApi.annotations({ summary, ...(description === undefined ? {} : { description }) })),
        Context.add(Declared, { access, codes })
      )
    )
    return (access.roles.length === 0
      ? endpoint
      : endpoint.middleware(KeyAuth)) as unknown as HttpApiEndpoint.HttpApiEndpoint<
      Identifier,
      Method,
      Path,
      StructOf<Params>,
      StructOf<Query>,
      Payload,
      never,
      OneOf<Success>,
      ProblemsOf<DeclaredStatus<Problems> | Implied<Params, Query, Payload, Rule>, NamedBy<Rule, Problems>>
    > &
      Declares<DeclaredStatus<Problems> | Implied<Params, Query, Payload, Rule>, NamedBy<Rule, Problems>>
  }

export const get = declare("GET")
export const post = declare("POST")
export const put = declare("PUT")
export const patch = declare("PATCH")
const remove = declare("DELETE")
export { remove as delete }

const impliedProblems = ({
  access,
  params,
  payload,
  query
}: Declaration<unknown, unknown, unknown, unknown, unknown, unknown>): ReadonlyArray<ProblemStatus> => [
  ...(access.roles.length > 0 ? ([401, 403] as const) : []),
  ...(params === undefined ? [] : ([404] as const)),
  ...(query === undefined ? [] : ([400] as const)),
  ...(payload === undefined ? [] : ([400, 413, 415] as const)),
  ...(access.idempotent ? ([400, 409] as const) : [])
]

/** The status of a success, as `HttpApiSchema.status` records it. */
export const statusOf = (schema: Schema.Top): number => {
  const noted =
    Schema.resolveAnnotations(schema)?.["httpApiStatus"] ?? Schema.resolveAnnotationsKey(schema)?.["httpApiStatus"]
  return typeof noted === "number" ? noted : 200
}

/** Title and description of a group of endpoints. */
export const about = (title: string, description: string) => OpenApi.annotations({ title, description })

/** A GET answers this at an endpoint that takes a POST. */
export const SelfDescription = Field.object("SelfDescription", "How to use an endpoint, with the schema of its body.", {
  endpoint: Field.string("Path of the endpoint.", "/api/market/register-consumer"),
  method: Field.string("HTTP method of the endpoint.", "POST"),
  description: Field.string("What the endpoint does.", "Register a consumer"),
  schema: Field.of(Schema.Record(Schema.String, Schema.Unknown), "JSON Schema of the request body.", {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    type: "object",
    properties: { email: { type: "string" } },
    required: ["email"]
  })
})

export const describing = <const I extends string, const P extends `/${string}`>(identifier: I, path: P) =>
  get(identifier, path, {
    access: publicRead,
    summary: `Describe POST ${path}`,
    description: `Returns what POST ${path} does and the JSON Schema of its request body.`,
    success: SelfDescription
  })

// The response to a GET of an endpoint that takes a POST: its description, with its input as JSON Schema, generated from the schema
// that decodes it.

export const describe = (endpoint: Pick<HttpApiEndpoint.Top, "annotations" | "path" | "payload">) => {
  const payload = endpoint.payload.get("application/json")?.schemas[0]
  if (payload === undefined) return Effect.die(new Error(`${endpoint.path} has no body to describe`))
  const document = Schema.toJsonSchemaDocument(payload)
  const summary = Context.getOrElse(endpoint.annotations, OpenApi.Summary, () => "")
  return Effect.succeed({
    endpoint: endpoint.path,
    method: "POST",
    description: Context.getOrElse(endpoint.annotations, OpenApi.Description, () => summary),
    schema: {
      $schema: "https://json-schema.org/draft/2020-12/schema",
      ...document.schema,
      $defs: document.definitions
    }
  })
}
