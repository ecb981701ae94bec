/**
 * Samples in documentation and pages: API requests as curl commands, and arguments of tools.
 */
import {
  BUDGET_ID,
  CONSUMER_ID,
  DISPUTE_ID,
  GRANT_ID,
  INVOICE_ID,
  KEY_ID,
  PAYOUT_ID,
  PROVIDER_ID,
  RECEIPT_ID,
  RUN_ID,
  SAMPLE_OPERATOR_KEY,
  SAMPLE_SIGNATURE,
  TOOL_ID
} from "../../http/contract/SampleValues.ts"
import type { Json, Located } from "../../http/openapi/OpenApiModel.ts"
import { jsonText } from "./Html.ts"

/** The shell variable with a key of this role. */
const keyVariable = (roles: ReadonlyArray<string>): string =>
  roles.length === 1 ? `${roles[0]!.toUpperCase()}_KEY` : "API_KEY"

/** The shell variable for each sample id: only the reader knows one that exists, and where it comes from. */
export const SAMPLE_IDS: ReadonlyArray<readonly [id: string, variable: string, source: string]> = [
  [PROVIDER_ID, "PROVIDER_ID", "`provider_id` of a provider, for example from `GET /api/market/catalog`"],
  [CONSUMER_ID, "CONSUMER_ID", "`consumer_id` of a consumer"],
  [TOOL_ID, "TOOL_ID", "`id` of a tool, for example from `GET /api/market/catalog`"],
  [KEY_ID, "KEY_ID", "`key_id` from `GET /api/v1/market/keys`"],
  [RECEIPT_ID, "RECEIPT_ID", "`receipt_id` of a call"],
  [DISPUTE_ID, "DISPUTE_ID", "`dispute_id` from `GET /api/v1/market/disputes`"],
  [INVOICE_ID, "INVOICE_ID", "`invoice_id` from `GET /api/v1/market/invoices`"],
  [RUN_ID, "RUN_ID", "`run_id` from `POST /api/v1/market/runs`"],
  [GRANT_ID, "GRANT_ID", "`grant_id` from `GET /api/v1/market/grants`"],
  [BUDGET_ID, "BUDGET_ID", "`budget_id` from `GET /api/v1/market/budgets`"],
  [PAYOUT_ID, "PAYOUT_ID", "`payout_id` from `GET /api/v1/operator/payouts`"],
  [SAMPLE_OPERATOR_KEY, "OPERATOR_KEY", "the setting `OPERATOR_KEY` of the service"],
  [
    SAMPLE_SIGNATURE,
    "STRIPE_SIGNATURE",
    "`t=TIME,v1=HMAC`: `TIME` in Unix seconds, and the hexadecimal HMAC-SHA256 of `TIME.BODY`, keyed with the setting " +
      "`STRIPE_WEBHOOK_SECRET`. `BODY` is the body byte for byte"
  ]
]

const KEY_SOURCES: Readonly<Record<string, string>> = {
  CONSUMER_KEY: "`api_key` from `POST /api/market/register-consumer`",
  PROVIDER_KEY: "`api_key` from `POST /api/market/register-provider`",
  API_KEY: "`api_key` of a consumer or provider",
  OPERATOR_KEY: "the setting `OPERATOR_KEY` of the service"
}

/** A program that takes the values of the variables from its environment. */
export const readingVariables = (program: string): string =>
  SAMPLE_IDS.reduce((all, [id, variable]) => all.replaceAll(`"${id}"`, `process.env["${variable}"]!`), program)

/** Each variable of a sample that the reader sets first, and where its value comes from. */
export const variablesIn = (sample: string): ReadonlyArray<readonly [name: string, source: string]> =>
  [...new Set([...sample.matchAll(/\$([A-Z_]+)/gu)].map(([, name]) => name!))].map((name) => [
    name,
    KEY_SOURCES[name] ?? SAMPLE_IDS.find(([, variable]) => variable === name)![2]
  ])

/** `role`: the key to send if several roles are allowed. */
export const curlExample = ({ method, path, operation }: Located, baseUrl: string, role?: string): string => {
  const required = operation.parameters.filter((parameter) => parameter.required)
  const filled = required
    .filter((parameter) => parameter.in === "path")
    .reduce((url, parameter) => url.replace(`{${parameter.name}}`, encodeURIComponent(String(parameter.example))), path)
  const query = required
    .filter((parameter) => parameter.in === "query")
    .map((parameter) => `${parameter.name}=${encodeURIComponent(String(parameter.example))}`)
    .join("&")
  const url = `${baseUrl}${filled}${query === "" ? "" : `?${query}`}`
  const headers = required
    .filter((parameter) => parameter.in === "header")
    .map((parameter) => `${parameter.name}: ${named(String(parameter.example))}`)
  return command(
    method,
    url,
    operation["x-roles"].length === 0 ? undefined : keyVariable(role === undefined ? operation["x-roles"] : [role]),
    operation.requestBody?.content["application/json"]?.example,
    headers
  )
}

export const curlPost = (url: string, role: string, body: Json): string =>
  command("POST", url, keyVariable([role]), body)

const command = (
  method: string,
  url: string,
  key: string | undefined,
  body: Json | undefined,
  headers: ReadonlyArray<string> = []
): string =>
  [
    `curl ${method === (body === undefined ? "GET" : "POST") ? "" : `-X ${method} `}${quoted(url)}`,
    ...(key === undefined ? [] : [`-H "Authorization: Bearer $${key}"`]),
    ...headers.map((header) => `-H "${header}"`),
    ...(body === undefined
      ? []
      : [`-H 'Content-Type: application/json'`, `-d ${named(singleQuoted(jsonText(body)), `'"`, `"'`)}`])
  ].join(" \\\n  ")

const quoted = (url: string): string => {
  const whole = named(url)
  if (whole !== url) return `"${whole}"`
  return /^[\w:/.~%-]+$/u.test(url) ? url : singleQuoted(url)
}

/** Replaces the sample ids by variables. */
const named = (text: string, before = "", after = ""): string =>
  SAMPLE_IDS.reduce((all, [id, variable]) => all.replaceAll(id, `${before}$${variable}${after}`), text)

/** Quotes the text as one shell word. */
export const singleQuoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`

// Sample arguments from a tool's input schema: its required properties with suggested or placeholder values.

type JsonObject = Readonly<Record<string, unknown>>

const DEPTH_MAX = 4

export const sampleInput = (schema: JsonObject | null): Readonly<Record<string, Json>> => {
  const sample = schema === null ? {} : sampleOf(schema, 0)
  return isObject(sample) ? (sample as Readonly<Record<string, Json>>) : {}
}

const sampleOf = (schema: unknown, depth: number): Json => {
  if (!isObject(schema)) return {}
  const { const: constant, default: byDefault, enum: choices, examples, items, type } = schema
  const suggested = [constant, byDefault, first(examples), first(choices)].find((value) => value !== undefined)
  if (suggested !== undefined) return suggested as Json
  switch (Array.isArray(type) ? type[0] : type) {
    case "string":
      return "…"
    case "integer":
    case "number":
      return typeof schema["minimum"] === "number" ? schema["minimum"] : 1
    case "boolean":
      return true
    case "null":
      return null
    case "array":
      return typeof schema["minItems"] === "number" && schema["minItems"] > 0 && depth < DEPTH_MAX
        ? [sampleOf(items, depth + 1)]
        : []
    default:
      return depth < DEPTH_MAX ? requiredProperties(schema, depth) : {}
  }
}

const requiredProperties = ({ properties, required }: JsonObject, depth: number): Json => {
  if (!isObject(properties) || !Array.isArray(required)) return {}
  return Object.fromEntries(
    required
      .filter((name): name is string => typeof name === "string" && Object.hasOwn(properties, name))
      .map((name) => [name, sampleOf(properties[name], depth + 1)])
  )
}

const first = (values: unknown): unknown => (Array.isArray(values) ? values[0] : undefined)

const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value)
