/**
 * Corrupts values: a place of them gets an unexpected value, or their text is cut and doubled.
 */
export interface Corruption {
  readonly where: number
  readonly how: number
}

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

/** One change: another value in a place, an additional key in an object, or a removed place. */
export const corrupt = (value: unknown, { how, where }: Corruption): unknown => {
  const places = placesOf(value, [])
  const place = pick(places, where)
  if (how % 10 === 0)
    return change(value, place, (inner) => (isObject(inner) ? add(inner, pick(KEYS, how), pick(VALUES, where)) : []))
  if (how % 10 === 1 && place.length > 0)
    return change(value, place.slice(0, -1), (inner) => without(inner, place.at(-1)!))
  return change(value, place, () => pick(VALUES, how))
}

/** The JSON text with this many changes; `place` says where and how. */
export const corrupted = (text: string, changes: number, place: () => number): string => {
  let value = JSON.parse(text) as unknown
  for (let n = 0; n < changes; n++) value = corrupt(value, { where: place(), how: place() })
  return textOf(value)
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

export const textOf = (value: unknown): string => (JSON.stringify(value) ?? "").replaceAll(RAW, "$1")

/** Most texts stay as they are. */
export const corruptText = (text: string, cut: number): string => {
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

export const QUERY_VALUES = [
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

export const pick = <A>(from: ReadonlyArray<A>, n: number): A => from[n % from.length]!
