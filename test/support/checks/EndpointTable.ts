/**
 * Every endpoint of the contract as a request: with a path that fits its parameters and a key that it accepts.
 */
import { Effect, Option, Schema, SchemaAST } from "effect"
import { allEndpoints, type EndpointInfo } from "../../../adapters/http/openapi/Api.ts"
import type { Role } from "../../../domain/accounts/Authentication.ts"
import { aConsumer, aProvider } from "../market/Market.ts"

export const OPERATOR_KEY = "an operator key of thirty-two characters and more"

export type RoleKeys = Readonly<Record<Role, string>>

export const aKeyOfEachRole = Effect.gen(function* () {
  const consumer = yield* aConsumer()
  const provider = yield* aProvider()
  return { consumer: consumer.key, provider: provider.key, operator: OPERATOR_KEY } satisfies RoleKeys
})

export const everyEndpoint = (): ReadonlyArray<EndpointInfo> => allEndpoints()

/** Endpoints that take a JSON body. */
export const everyBody = (): ReadonlyArray<EndpointInfo> =>
  allEndpoints().filter((endpoint) => endpoint.payload !== undefined)

export const protectedEndpoints = (): ReadonlyArray<EndpointInfo> =>
  allEndpoints().filter((endpoint) => endpoint.rule.roles.length > 0)

/** Every path, with all its methods: a parameter may match another path's literal segment. */
export const methodsByPath = (): ReadonlyMap<string, ReadonlyArray<string>> =>
  new Map(
    allEndpoints().map((endpoint) => {
      const path = pathOf(endpoint)
      return [
        path,
        [
          ...new Set(
            allEndpoints()
              .filter(takes(path))
              .map(({ method }) => method)
          )
        ]
      ]
    })
  )

const takes = (path: string) => (endpoint: EndpointInfo) =>
  new RegExp(`^${endpoint.path.replaceAll(/:\w+/gu, "[^/]+")}$`, "u").test(path)

export const fieldNames = (schema: Schema.Top | undefined): ReadonlyArray<string> =>
  schema !== undefined && SchemaAST.isObjects(schema.ast)
    ? schema.ast.propertySignatures.map(({ name }) => String(name))
    : []

/** A key that the endpoint accepts; none where it needs none. */
export const keyFor = (endpoint: EndpointInfo, keys: RoleKeys): string | undefined => {
  const [role] = endpoint.rule.roles
  return role === undefined ? undefined : keys[role]
}

export const titleOf = ({ method, path }: EndpointInfo): string => `${method} ${path}`

/** With parameters that the endpoint's own schema accepts, though nothing has that id. */
export const pathOf = (endpoint: EndpointInfo): string => {
  const names = [...endpoint.path.matchAll(/:(\w+)/gu)].map(([, name]) => name!)
  if (names.length === 0) return endpoint.path
  const params = endpoint.endpoint.params as unknown as Schema.ConstraintDecoder<unknown>
  const decode = Schema.decodeUnknownOption(params)
  const value = SAMPLE_IDS.find((id) => Option.isSome(decode(Object.fromEntries(names.map((name) => [name, id])))))
  if (value === undefined) throw new Error(`No sample id fits ${endpoint.path}: add one to SAMPLE_IDS`)
  return endpoint.path.replaceAll(/:\w+/gu, value)
}

const SAMPLE_IDS = [
  "00000000-0000-4000-8000-000000000000",
  "rcpt_00000000000000000000000000000000",
  "disp_0000000000000000",
  "0",
  "1"
]
