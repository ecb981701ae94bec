/**
 * Requests to every operation of the OpenAPI document: as described, corrupted in some place, or garbage.
 */
import type { Located } from "../../../adapters/http/openapi/OpenApiModel.ts"
import { QUERY_VALUES, corruptText, corrupted, textOf } from "../checks/Corruption.ts"
import type { Chance } from "./Chance.ts"
import type { Crowd } from "./Accounts.ts"
import { type Making, valueOf } from "./SchemaValue.ts"

export interface FuzzRequest {
  readonly kind: "fitting" | "spoilt" | "garbage"
  readonly method: string
  /** With the query. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | Buffer | undefined
}

const SPOILT_PERCENT = 35
const GARBAGE_PERCENT = 12

export const requestOf = (located: Located, making: Making, crowd: Crowd): FuzzRequest => {
  const { chance } = making
  const key = crowd.keyFor(located.operation["x-roles"], chance)
  const authorization: Record<string, string> = key === undefined ? {} : { authorization: `Bearer ${key}` }
  const fitting = fittingRequest(located, making, authorization)
  if (chance.percent(GARBAGE_PERCENT)) return garbage(fitting, chance)
  return chance.percent(SPOILT_PERCENT) ? spoiltRequest(fitting, chance) : fitting
}

const fittingRequest = (
  { method, operation, path: pattern }: Located,
  making: Making,
  authorization: Readonly<Record<string, string>>
): FuzzRequest => {
  const { chance } = making
  const content = operation.requestBody?.content["application/json"]
  const body = content === undefined ? undefined : textOf(valueOf(content.schema, "", making))
  const headers: Record<string, string> = { ...authorization }
  if (body !== undefined) headers["content-type"] = "application/json"
  if (method !== "GET" && chance.percent(20)) headers["idempotency-key"] = `fuzz-${chance.below(500)}`
  let path = pattern
  const query: Array<string> = []
  for (const parameter of operation.parameters) {
    if (parameter.in === "header") continue
    if (!parameter.required && chance.percent(50)) continue
    const value = encodeURIComponent(
      String(valueOf(parameter.schema, nameOf(pattern, parameter.name), making)).toWellFormed()
    )
    // A tile's name spans several segments.
    if (parameter.in === "path") path = path.replace(`{${parameter.name}}`, value.replaceAll("%2F", "/"))
    else query.push(`${parameter.name}=${value}`)
  }
  return {
    kind: "fitting",
    method,
    path: query.length === 0 ? path : `${path}?${query.join("&")}`,
    headers,
    body
  }
}

/** `/disputes/{id}` takes what responses call a dispute_id. */
const nameOf = (pattern: string, name: string): string =>
  name === "id" ? (/(\w+?)s?\/\{id\}/u.exec(pattern)?.[1] ?? "").concat("_id") : name

const spoiltRequest = (request: FuzzRequest, chance: Chance): FuzzRequest => {
  const place = () => chance.below(1_000_000)
  const query = chance.percent(30) ? `${request.path.includes("?") ? "&" : "?"}${spoiltQuery(chance)}` : ""
  const body =
    typeof request.body === "string"
      ? corruptText(corrupted(request.body, chance.below(3) + 1, place), place())
      : chance.percent(10)
        ? "{}"
        : undefined
  return { ...request, kind: "spoilt", path: request.path + query, body, headers: oddHeaders(request, chance) }
}

const spoiltQuery = (chance: Chance): string => `${chance.pick(QUERY_NAMES)}=${chance.pick(QUERY_VALUES)}`

const QUERY_NAMES = [
  "limit",
  "offset",
  "cursor",
  "q",
  "key_id",
  "grant_id",
  "from",
  "to",
  "period",
  "a%00",
  "__proto__"
]

const ODD: ReadonlyArray<readonly [name: string, value: string]> = [
  ["content-type", "text/plain"],
  ["content-type", "application/json; charset=utf-16"],
  ["content-type", "multipart/form-data; boundary=x"],
  ["content-encoding", "gzip"],
  ["authorization", "Basic eDp4"],
  ["authorization", "Bearer "],
  ["authorization", `Bearer ${"x".repeat(8_000)}`],
  ["idempotency-key", ""],
  ["idempotency-key", "x".repeat(300)],
  ["idempotency-key", "\u00e4"],
  ["x-request-id", "{}<script>"],
  ["traceparent", "00-zz-zz-01"],
  ["origin", "null"],
  ["origin", "https://evil.example"],
  ["accept", "text/html;q=0, */*;q=nothing"],
  ["x-forwarded-for", "1.2.3.4, ::1, nonsense"],
  ["expect", "100-continue"],
  ["range", "bytes=0-1"],
  ["if-none-match", "*"],
  ["stripe-signature", "t=1,v1=00"],
  ["cookie", "a=b; ".repeat(500)]
]

const oddHeaders = (request: FuzzRequest, chance: Chance): FuzzRequest["headers"] =>
  chance.percent(40) ? { ...request.headers, ...Object.fromEntries([chance.pick(ODD)]) } : request.headers

const garbage = (request: FuzzRequest, chance: Chance): FuzzRequest => {
  const base = { ...request, kind: "garbage" as const }
  switch (chance.below(6)) {
    case 0:
      return { ...base, method: chance.pick(METHODS), body: undefined }
    case 1:
      return { ...base, path: request.path + chance.pick(TAILS) }
    case 2:
      return { ...base, path: chance.pick(PLACES) }
    case 3:
      return { ...base, path: `${request.path.split("?")[0]}?${"&a=1".repeat(chance.below(3_000))}` }
    case 4:
      return { ...base, method: "POST", headers: json(request), body: noise(chance) }
    default:
      return { ...base, method: "POST", headers: json(request), body: chance.pick(TOWERS)() }
  }
}

const json = ({ headers }: FuzzRequest) => ({ ...headers, "content-type": "application/json" })

const noise = (chance: Chance): Buffer =>
  Buffer.from(Array.from({ length: chance.below(2_000) }, () => chance.below(256)))

const METHODS = ["HEAD", "PUT", "PATCH", "OPTIONS", "DELETE", "GET", "PROPFIND", "TRACE"]
const TAILS = [
  "/",
  "//",
  "/..",
  "/%2e%2e%2f",
  "%00",
  "%",
  "%zz",
  ";a=b",
  "/x".repeat(300),
  "?",
  "?%",
  "#x",
  "%ed%a0%80"
]
const PLACES = ["/", "//", "/docs", "/metrics", "/verify", "/api/openapi.json", "/assets/x", "/nowhere", "*", "/%"]
const TOWERS = [
  () => "[".repeat(100_000),
  () => `{"a":`.repeat(20_000),
  () => `"${"x".repeat(900_000)}"`,
  () => `"${"x".repeat(1_100_000)}"`,
  () => `[${"1,".repeat(400_000)}1]`,
  () => `{${Array.from({ length: 20_000 }, (_, n) => `"k${n}":${n}`).join(",")}}`,
  () => `{"amount_cents":1${"0".repeat(50_000)}}`
]
