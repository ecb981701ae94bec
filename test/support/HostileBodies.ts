/**
 * Bodies made from an endpoint's own schema and then spoilt: a plan says where and how, so that a failure shrinks to the
 * few changes that matter and is replayed by its seed.
 */
import { Schema } from "effect"
import * as Arbitrary from "effect/Arbitrary"
import { RegisterProvider } from "../../adapters/http/api/AccountsApi.ts"
import type { EndpointInfo } from "../../adapters/http/api/Endpoints.ts"
import { PROVIDERS } from "./Market.ts"

export interface Hostile {
  readonly text: string
}

/** Bodies of the right form, half of them wholly valid, most of them spoilt in one to three places or as text. */
export const hostileBodies = (endpoint: EndpointInfo): Arbitrary.Arbitrary<Hostile> =>
  Arbitrary.all({
    body: bodies(generatable(endpoint)),
    spoils: Arbitrary.schema(Spoils),
    cut: Arbitrary.schema(Place)
  }).pipe(Arbitrary.map(({ body, cut, spoils }) => ({ text: spoilText(textOf(spoils.reduce(spoil, body)), cut) })))

/** Queries with the endpoint's own parameters and values that they do not expect. */
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
type Spoil = (typeof Spoils.Type)[number]

type Payload = Schema.ConstraintCodec<unknown, unknown>

/** The form without its rules keeps a small valid body that is hard to come by from holding everything up. */
const bodies = (payload: Payload): Arbitrary.Arbitrary<unknown> => {
  const valid = Arbitrary.map(Arbitrary.schema(payload), Schema.encodeUnknownSync(payload))
  const formed = Arbitrary.schema(Schema.toEncoded(payload))
  return Arbitrary.flatMap(Arbitrary.schema(Schema.Boolean), (isValid) => (isValid ? valid : formed))
}

/** What a filter alone describes, as it does a URL, cannot be derived from. */
const generatable = ({ path, payload }: EndpointInfo): Payload =>
  (path === PROVIDERS
    ? Schema.Struct({ ...RegisterProvider.fields, endpoint_url: Schema.Literals(URLS) })
    : payload) as unknown as Payload

/** Nothing listens there. */
const URLS = ["http://127.0.0.1:1/mcp", "http://[::1]:1/", "HTTPS://127.0.0.1:1/?x=1#y"]

const nested = (depth: number, wrap: (inner: unknown) => unknown): unknown => {
  let value: unknown = 1
  for (let n = 0; n < depth; n++) value = wrap(value)
  return value
}

const withProto = (value: unknown): object =>
  Object.defineProperty({}, "__proto__", { value, enumerable: true, configurable: true, writable: true })

/** Stands for a number that JavaScript cannot hold. */
const RAW = /"@raw:([^"]*)"/gu

const VALUES: ReadonlyArray<unknown> = [
  null,
  true,
  false,
  0,
  -0,
  -1,
  1,
  "500",
  150.5,
  2 ** 53,
  2 ** 53 - 1,
  2 ** 63,
  -(2 ** 31),
  2 ** 31,
  1e300,
  5e-324,
  "@raw:1e400",
  "@raw:-1e400",
  "@raw:9007199254740993",
  "@raw:1.0",
  "@raw:-0.0",
  "",
  " ",
  "\0",
  "a\0b",
  "\ud800",
  "\udc00\ud800",
  "\u{1f600}",
  "\u202e\u0000",
  "x".repeat(5_000),
  "ä".repeat(300),
  "\u{10ffff}".repeat(3_000),
  "'; DROP TABLE tools; --",
  "$1",
  "{{7*7}}",
  "${x}",
  "../../etc/passwd",
  "javascript:alert(1)",
  "ftp://example.org",
  "http://",
  "http://user:pass@example.org",
  "http://\u0000.example.org",
  "https://example.org/\ud800",
  "Infinity",
  "NaN",
  "2026-13-45T99:99:99Z",
  "9999-12-31T23:59:59.999-23:59",
  "0000-01-01T00:00:00Z",
  "-000001-01-01T00:00:00Z",
  "00000000-0000-0000-0000-000000000000",
  "unknown enum value",
  "a|b",
  [],
  [[]],
  {},
  [null],
  Array.from({ length: 51 }, (_, n) => n),
  Array.from({ length: 5_000 }, () => null),
  nested(70, (inner) => [inner]),
  nested(1_000, (inner) => [inner]),
  nested(1_000, (inner) => ({ a: inner })),
  withProto({ polluted: true }),
  withProto(null),
  { constructor: { prototype: { polluted: true } } },
  JSON.parse('{"toString":1,"valueOf":null,"hasOwnProperty":0,"then":1,"toJSON":1,"length":-1}') as unknown,
  { type: "no such type" },
  { type: "object", properties: { a: { $ref: "#" } } },
  { $ref: "https://elsewhere.example/schema" },
  { pattern: "(a+)+$", type: "string" },
  { "\0": 1 },
  { "\ud800": "x" },
  Object.fromEntries(Array.from({ length: 300 }, (_, n) => [`k${n}`, n]))
]

const KEYS = [
  "__proto__",
  "constructor",
  "",
  "\0",
  "\ud800",
  "x".repeat(2_000),
  "tools",
  "name",
  "id",
  "price_microcents"
]

/** One change: another value in a place, or one more key in an object, or a place taken out. */
const spoil = (value: unknown, { how, where }: Spoil): unknown => {
  const places = placesOf(value, [])
  const place = pick(places, where)
  if (how % 10 === 0)
    return change(value, place, (inner) => (isObject(inner) ? add(inner, pick(KEYS, how), pick(VALUES, where)) : []))
  if (how % 10 === 1 && place.length > 0)
    return change(value, place.slice(0, -1), (inner) => without(inner, place.at(-1)!))
  return change(value, place, () => pick(VALUES, how))
}

type Step = string | number

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const placesOf = (value: unknown, path: ReadonlyArray<Step>): ReadonlyArray<ReadonlyArray<Step>> => {
  if (path.length > 8) return [path]
  if (Array.isArray(value)) return [path, ...value.slice(0, 20).flatMap((item, n) => placesOf(item, [...path, n]))]
  if (isObject(value))
    return [
      path,
      ...Object.keys(value)
        .slice(0, 20)
        .flatMap((key) => placesOf(value[key], [...path, key]))
    ]
  return [path]
}

const change = (value: unknown, [step, ...rest]: ReadonlyArray<Step>, make: (inner: unknown) => unknown): unknown => {
  if (step === undefined) return make(value)
  if (Array.isArray(value)) return value.map((item, n) => (n === step ? change(item, rest, make) : (item as unknown)))
  return isObject(value) ? add(value, String(step), change(value[step], rest, make)) : value
}

const add = (object: Readonly<Record<string, unknown>>, key: string, value: unknown): object =>
  Object.defineProperty(Object.assign(Object.create(null) as object, object), key, {
    value,
    enumerable: true,
    configurable: true,
    writable: true
  })

const without = (value: unknown, step: Step): unknown => {
  if (Array.isArray(value)) return value.filter((_, n) => n !== step)
  return isObject(value) ? Object.fromEntries(Object.entries(value).filter(([key]) => key !== step)) : value
}

const textOf = (value: unknown): string => (JSON.stringify(value) ?? "").replaceAll(RAW, "$1")

/** Most texts stay as they are. */
const spoilText = (text: string, cut: number): string => {
  const at = cut % Math.max(1, text.length)
  switch (cut % 13) {
    case 0:
      return text.slice(0, at)
    case 1:
      return text.slice(0, at) + "\u0000" + text.slice(at)
    case 2:
      return text.replace("{", '{"name":1,"name":{},')
    case 3:
      return `\ufeff${text}`
    case 4:
      return text + text
    default:
      return text
  }
}

const QUERY_VALUES = [
  "",
  "1",
  "-1",
  "1e3",
  "abc",
  "%00",
  "%ed%a0%80",
  "%ff%fe",
  "%",
  "99999999999999999999",
  "0",
  "%F0%9F%98%80",
  "__proto__",
  "name",
  "00000000-0000-0000-0000-000000000000",
  "2026-11-20T00:00:00Z",
  "9999-12-31T23:59:59-23:59",
  "-000001-01-01T00:00:00Z",
  "'%3B%20DROP%20TABLE%20tools%3B--",
  "x".repeat(3_000),
  "WyJjYXRhbG9nOm5hbWUiLCJcdTAwMDAiLCIxIl0",
  "7d",
  "success"
]

const pick = <A>(from: ReadonlyArray<A>, n: number): A => from[n % from.length]!
