/**
 * Invalid requests of many forms, at every endpoint of the contract: each error speaks of fields and formats, never
 * of our types, brands or the decoding library.
 */
import { assert, it } from "@effect/vitest"
import { Effect, SchemaAST } from "effect"
import { openApiDocument } from "../../adapters/http/openapi/OpenApiDocument.ts"
import type { EndpointInfo } from "../../adapters/http/openapi/Api.ts"
import { bodyWith, objectsOfBody } from "../support/checks/ClosedObjects.ts"
import {
  aKeyOfEachRole,
  everyEndpoint,
  fieldNames,
  keyFor,
  OPERATOR_KEY,
  pathOf,
  titleOf
} from "../support/checks/EndpointTable.ts"
import { at, listAt, valueAt } from "../support/market/Market.ts"
import { LIVE, send, ServiceUnderTest } from "../support/market/ServiceUnderTest.ts"
import type { Answer } from "../support/checks/Answer.ts"

const document = openApiDocument("http://127.0.0.1:3000")

/** Names with two capitals: no sentence contains them by chance. */
const typeNames = (): ReadonlyArray<string> => {
  const names = new Set<string>([
    ...Object.keys(document.components.schemas),
    ...everyEndpoint().flatMap(({ endpoint, payload }) =>
      [payload, endpoint.query, endpoint.params].flatMap((schema) => (schema === undefined ? [] : namesIn(schema.ast)))
    )
  ])
  return [...names].filter((name) => /^[A-Z][a-z]+[A-Z]/u.test(name))
}

const namesIn = (ast: SchemaAST.AST): ReadonlyArray<string> => {
  const own = [SchemaAST.resolveIdentifier(ast), ...(SchemaAST.resolveAt<ReadonlyArray<string>>("brands")(ast) ?? [])]
  const inner = SchemaAST.isObjects(ast)
    ? ast.propertySignatures.map(({ type }) => type)
    : SchemaAST.isArrays(ast)
      ? ast.rest
      : SchemaAST.isUnion(ast)
        ? ast.types
        : []
  return [...own.filter((name) => name !== undefined), ...inner.flatMap(namesIn)]
}

/** Words of Effect and JavaScript for what is wrong. */
const INSIDE =
  /Expected|Struct|Schema(?:Error|Issue)?\b|_tag|\bUnion\b|\bRecord<|ReadonlyArray|<filter>|Missing key|excess|RegExp|\bundefined\b|\[object|NaN|Microcents\b|TypeError|Cannot read|is not a function|brand|\bat [\w.]+ \(/u

const VALUES: ReadonlyArray<unknown> = [
  null,
  true,
  0,
  -1,
  1.5,
  1e300,
  2 ** 53,
  "",
  " ",
  "x",
  "\ud83d\ude00",
  "x".repeat(5_000),
  [],
  [null],
  [[]],
  {},
  { x: 1 }
]

const BODIES: ReadonlyArray<string> = [
  "",
  "{",
  "[]",
  "null",
  "1",
  '"x"',
  "{}",
  '{"__proto__":1}',
  '{"a":{"a":{"a":1}}}',
  '{"a":"\\u0000"}'
]

const bodiesOf = ({ method, path }: EndpointInfo): ReadonlyArray<string> => [
  ...BODIES,
  ...objectsOfBody(document, path, method).flatMap(({ fields, path: place }) =>
    fields.flatMap((field) => VALUES.map((value) => JSON.stringify(bodyWith(place, { [field]: value }))))
  )
]

const QUERY_VALUES = ["", "x", "-1", "1e3", "0", " ", "%00", "%F0%9F%98%80", "x".repeat(700)]
const IDS = [
  "x",
  "1",
  "00000000-0000-4000-8000-00000000000",
  "ABCDEF00-0000-4000-8000-000000000000",
  "rcpt_1",
  "%00",
  "%F0%9F%98%80"
]

const saidIn = (answer: Answer): ReadonlyArray<string> => [
  ...["message", "detail", "title"].map((name) => String(at(answer, name) ?? "")),
  ...(at(answer, "details") === undefined
    ? []
    : listAt(answer, "details").map((one) => String(valueAt(one, "message")))),
  ...(at(answer, "tool_errors") === undefined
    ? []
    : listAt(answer, "tool_errors").map((one) => String(valueAt(one, "error"))))
]

it.layer(
  ServiceUnderTest.memory({ OPERATOR_KEY, RATE_LIMIT_RPM: "0", RATE_LIMIT_IP_RPM: "0", RATE_LIMIT_REGISTER_RPM: "0" }),
  LIVE
)("the error of an invalid request", (it) => {
  const names = typeNames()
  const isNamed = new RegExp(names.join("|"), "u")

  it("contains no names of our types", () => {
    assert.includeMembers([...names], ["ProxyCall", "RegisterProvider", "ToolDeclaration"])
    assert.isAbove(names.length, 40)
  })

  for (const endpoint of everyEndpoint()) {
    it.effect(titleOf(endpoint), () =>
      Effect.gen(function* () {
        const { method, payload } = endpoint
        const path = pathOf(endpoint)
        const key = keyFor(endpoint, yield* aKeyOfEachRole)
        const headers = { "content-type": "application/json" }
        const calls = [
          ...(payload === undefined ? [] : bodiesOf(endpoint).map((body) => ({ method, path, key, body, headers }))),
          ...fieldNames(endpoint.endpoint.query).flatMap((name) =>
            QUERY_VALUES.map((value) => ({ method, path: `${path}?${name}=${value}`, key }))
          ),
          ...(endpoint.path.includes(":")
            ? IDS.map((id) => ({
                method,
                path: endpoint.path.replaceAll(/:\w+/gu, id),
                key,
                ...(payload === undefined ? {} : { json: {} })
              }))
            : []),
          { method, path, headers: { authorization: key ?? "none" }, ...(payload === undefined ? {} : { json: {} }) }
        ]
        for (const call of calls) {
          const answer = yield* send(call)
          if (answer.status < 400) continue
          assert.notStrictEqual(answer.status, 500, answer.text)
          for (const said of saidIn(answer)) {
            if (INSIDE.test(said) || isNamed.test(said)) {
              assert.fail(`${titleOf(endpoint)} ${JSON.stringify(call).slice(0, 300)}: ${said}`)
            }
          }
        }
      })
    )
  }
})
