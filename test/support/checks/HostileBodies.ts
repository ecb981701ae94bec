/**
 * Bodies made from an endpoint's own schema and then corrupted: a plan says where and how, so that a failure shrinks
 * to the few relevant changes and is replayed by its seed.
 */
import { Schema } from "effect"
import * as Arbitrary from "effect/Arbitrary"
import { RegisterProvider } from "../../../adapters/http/accounts/AccountsApi.ts"
import type { EndpointInfo } from "../../../adapters/http/openapi/Api.ts"
import { corrupt, corruptText, pick, QUERY_VALUES, textOf } from "./Corruption.ts"
import { PROVIDERS } from "../market/Market.ts"

export interface Hostile {
  readonly text: string
}

/** Bodies of the right form, half of them wholly valid, most of them corrupted in one to three places or as text. */
export const hostileBodies = (endpoint: EndpointInfo): Arbitrary.Arbitrary<Hostile> =>
  Arbitrary.all({
    body: bodies(generatable(endpoint)),
    spoils: Arbitrary.schema(Spoils),
    cut: Arbitrary.schema(Place)
  }).pipe(Arbitrary.map(({ body, cut, spoils }) => ({ text: corruptText(textOf(spoils.reduce(corrupt, body)), cut) })))

/** Queries with the endpoint's own parameters and unexpected values. */
export const hostileQueries = (names: ReadonlyArray<string>): Arbitrary.Arbitrary<string> =>
  Arbitrary.schema(Schema.Array(Schema.Struct({ name: Place, value: Place })).check(Schema.isMaxLength(4))).pipe(
    Arbitrary.map((parameters) =>
      parameters
        .map(({ name, value }) => `${pick(names.length > 0 ? names : ["q"], name)}=${pick(QUERY_VALUES, value)}`)
        .join("&")
    )
  )

const Place = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 1_000_000 }))
const Spoils = Schema.Array(Schema.Struct({ where: Place, how: Place })).check(Schema.isMaxLength(3))

type Payload = Schema.ConstraintCodec<unknown, unknown>

/** The form without its rules is used where a small valid body is rare, so that generation does not take too long. */
const bodies = (payload: Payload): Arbitrary.Arbitrary<unknown> => {
  const valid = Arbitrary.map(Arbitrary.schema(payload), Schema.encodeUnknownSync(payload))
  const formed = Arbitrary.schema(Schema.toEncoded(payload))
  return Arbitrary.flatMap(Arbitrary.schema(Schema.Boolean), (isValid) => (isValid ? valid : formed))
}

/** A schema with only a filter, such as a URL, cannot be derived from. */
const generatable = ({ path, payload }: EndpointInfo): Payload =>
  (path === PROVIDERS
    ? Schema.Struct({ ...RegisterProvider.fields, endpoint_url: Schema.Literals(URLS) })
    : payload) as unknown as Payload

/** No server listens there. */
const URLS = ["http://127.0.0.1:1/mcp", "http://[::1]:1/", "HTTPS://127.0.0.1:1/?x=1#y"]
