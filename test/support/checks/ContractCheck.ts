/**
 * What holds for every response of the service: the conventions, the problem form, and for each endpoint its declared
 * statuses and body. Returns the faults in words.
 */
import { Result, Schema } from "effect"
import { FindMyWay } from "effect/http"
import { allEndpoints, type EndpointInfo } from "../../../adapters/http/openapi/Api.ts"
import { codesByStatus } from "../../../adapters/http/contract/Problem.ts"
import type { WebRequest } from "../../../adapters/http/pipeline/WebRequest.ts"
import type { Answer } from "./Answer.ts"

export const contractFaults = (request: WebRequest, answer: Answer): ReadonlyArray<string> => {
  const endpoint = endpointOf(request)
  const declared = endpoint === undefined ? undefined : schemasOf(endpoint).get(answer.status)
  const faults = [...headerFaults(answer), ...leaks(answer)]
  if (KEY.test(answer.log)) faults.push("the log shows a key")
  const nameless = answer.log.split("\n").filter((line) => line !== "" && !/(?:^| )request_id=/u.test(line))
  faults.push(...nameless.map((line) => `a line of the log does not say which request it is about: ${line}`))
  if (endpoint !== undefined && declared === undefined) {
    faults.push(`${endpoint.method} ${endpoint.path} does not declare the status ${answer.status}`)
  }
  if (isProblem(request, answer)) faults.push(...problemFaults(request, answer))
  if (declared !== undefined && answer.json !== undefined && !isQuirk(request, answer)) {
    const read = Schema.decodeUnknownResult(declared)(answer.json, { onExcessProperty: "error", errors: "all" })
    if (Result.isFailure(read)) faults.push(`the body is not what is declared: ${read.failure.message}`)
  }
  return faults
}

export const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/u
const REQUEST_ID = /^[A-Za-z0-9_.:-]{1,128}$/u
/** What the inside of the service looks like: places in the code, SQL, connection strings, keys. */
const INSIDE =
  /\.ts:\d+|node_modules|\bat \w+ \(|\b(?:SELECT|INSERT INTO|UPDATE \w+ SET|DELETE FROM)\b|SqlError|postgres(?:ql)?:\/\//u
const KEY = /atb_[ckpr]_[0-9a-f]{32}/u

const headerFaults = ({ headers }: Answer): Array<string> => {
  const expected: Array<readonly [name: string, pattern: RegExp]> = [
    ["x-request-id", REQUEST_ID],
    ["x-content-type-options", /^nosniff$/u],
    ["x-frame-options", /^DENY$/u],
    ["access-control-allow-origin", /^\*$/u],
    ["cache-control", /^(?:no-store|private, no-cache|public, max-age=(?:1|60|31536000, immutable))$/u]
  ]
  if (headers["content-type"]?.startsWith("text/html") === true) {
    expected.push(["content-security-policy", /default-src 'none'/u])
  }
  return [
    ...expected
      .filter(([name, pattern]) => !pattern.test(headers[name] ?? ""))
      .map(([name]) => `${name} is ${headers[name]}`),
    ...Object.entries(headers)
      .filter(([name, value]) => name !== name.toLowerCase() || !/^[\t\x20-\x7e]*$/u.test(value))
      .map(([name]) => `the header ${name} is not a plain one`)
  ]
}

const leaks = ({ json, status, text }: Answer): ReadonlyArray<string> =>
  status < 400 || json === undefined
    ? []
    : [INSIDE, KEY].filter((pattern) => pattern.test(text)).map((pattern) => `the answer shows ${pattern}`)

/**
 * Every error except those with a form of their own: a degraded health, what verifiers compare whole, and a not-found
 * page for people.
 */
const isProblem = (request: WebRequest, answer: Answer): boolean =>
  answer.status >= 400 &&
  !isQuirk(request, answer) &&
  !isRpcError(request, answer) &&
  !isOAuthError(request, answer) &&
  !(answer.status === 503 && HEALTH_PATHS.has(request.path)) &&
  !(answer.status === 404 && isPage(request, answer))

const isPage = ({ headers: asked, path }: WebRequest, { headers }: Answer): boolean =>
  headers["content-type"] === "text/html; charset=utf-8" &&
  (!path.startsWith("/api/") || String(asked["accept"]).startsWith("text/html"))

/** The doors for MCP, and the path of its older transport, answer with errors of JSON-RPC. */
const isRpcError = ({ path }: WebRequest, { text }: Answer): boolean =>
  /^\/(?:mcp|sse)(?:\/|$)/u.test(path) && text.startsWith('{"jsonrpc":"2.0",')

/** Clients that try OAuth read its own errors only. */
const isOAuthError = ({ path }: WebRequest, { text }: Answer): boolean =>
  /^\/(?:register|authorize|token)$|\/\.well-known\/(?:oauth-|openid-|x$)/u.test(path) &&
  text.startsWith('{"error":"invalid_request","error_description":"')

const HEALTH_PATHS: ReadonlySet<string> = new Set(["/api/market/health", "/api/v1/health", "/readyz"])

const isQuirk = (request: WebRequest, answer: Answer): boolean =>
  request.path === "/api/v1/verify" && (answer.status === 400 || answer.status === 405)

const Problem = Schema.Struct({
  type: Schema.String.check(Schema.isPattern(/^https?:\/\/[^#]+\/docs\/errors#error-[A-Z_]+$/u)),
  title: Schema.NonEmptyString,
  status: Schema.Int,
  detail: Schema.NonEmptyString,
  instance: Schema.String,
  error: Schema.Literal(true),
  code: Schema.String,
  message: Schema.NonEmptyString,
  request_id: Schema.String,
  details: Schema.optionalKey(
    Schema.NonEmptyArray(
      Schema.Struct({
        path: Schema.Array(Schema.Union([Schema.String, Schema.Int])),
        message: Schema.NonEmptyString
      })
    )
  ),
  retry_after_seconds: Schema.optionalKey(Schema.Int.check(Schema.isGreaterThan(0)))
})

const problemFaults = (request: WebRequest, { headers, json, status }: Answer): ReadonlyArray<string> => {
  const read = Schema.decodeUnknownResult(Problem)(json, { errors: "all" })
  if (Result.isFailure(read)) return [`the problem is not well formed: ${read.failure.message}`]
  const problem = read.success
  const codes: ReadonlyArray<string> = codesByStatus[status as keyof typeof codesByStatus] ?? []
  const rules: ReadonlyArray<readonly [holds: boolean, rule: string]> = [
    [headers["content-type"] === "application/problem+json", "its content type is application/problem+json"],
    [headers["cache-control"] === "no-store", "a problem is not stored"],
    [problem.type.endsWith(`#error-${problem.code}`), "its type is its code's entry in the docs"],
    [problem.status === status, "its status is the answer's"],
    [codes.includes(problem.code), `its code is one of ${codes.join(", ")}`],
    [problem.instance === request.path, "its instance is the path"],
    [problem.detail === problem.message, "its detail is its message"],
    [problem.request_id === headers["x-request-id"], "its request_id is that of the header"],
    [status !== 401 || headers["www-authenticate"] === "Bearer", "401 says WWW-Authenticate: Bearer"],
    [status !== 405 || headers["allow"] !== undefined, "405 says what is allowed"],
    [
      headers["retry-after"] ===
        (problem.retry_after_seconds === undefined ? undefined : String(problem.retry_after_seconds)),
      "Retry-After and retry_after_seconds agree"
    ],
    [status !== 429 || problem.retry_after_seconds !== undefined, "429 says when to come again"],
    [status !== 429 || headers["x-ratelimit-limit"] !== undefined, "429 says what the limit is"]
  ]
  return rules.filter(([holds]) => !holds).map(([, rule]) => `the rule is broken that ${rule}`)
}

let router: FindMyWay.Router<EndpointInfo> | undefined

const endpointOf = (request: WebRequest): EndpointInfo | undefined => {
  if (router === undefined) {
    router = FindMyWay.make<EndpointInfo>({ ignoreTrailingSlash: true, ignoreDuplicateSlashes: false })
    for (const endpoint of allEndpoints()) router.on(endpoint.method as "GET", endpoint.path as "/", endpoint)
  }
  const method = request.method === "HEAD" ? "GET" : request.method
  return ["GET", "POST", "PUT", "PATCH", "DELETE"].includes(method) && !/[;#]/u.test(request.path)
    ? router.find(method as "GET", request.path)?.handler
    : undefined
}

type Declared = Schema.ConstraintDecoder<unknown>

const known = new WeakMap<EndpointInfo, ReadonlyMap<number, Declared>>()

/** A status may have several bodies: a degraded health, or a problem. */
const schemasOf = (info: EndpointInfo): ReadonlyMap<number, Declared> => {
  const found = known.get(info) ?? unionsOf(Map.groupBy([...info.endpoint.success, ...info.endpoint.error], statusOf))
  known.set(info, found)
  return found
}

const unionsOf = (schemas: ReadonlyMap<number, ReadonlyArray<Schema.Top>>): ReadonlyMap<number, Declared> =>
  new Map([...schemas].map(([status, some]) => [status, Schema.Union(some) as unknown as Declared]))

const statusOf = (schema: Schema.Top): number => {
  const noted =
    Schema.resolveAnnotations(schema)?.["httpApiStatus"] ?? Schema.resolveAnnotationsKey(schema)?.["httpApiStatus"]
  return typeof noted === "number" ? noted : 200
}
