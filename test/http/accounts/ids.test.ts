/**
 * The form of every id is checked, in paths, queries and bodies; the error names the id and the form.
 */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { openApiDocument } from "../../../adapters/http/openapi/OpenApiDocument.ts"
import { bodyWith, objectsOfBody } from "../../support/checks/ClosedObjects.ts"
import {
  aKeyOfEachRole,
  everyBody,
  everyEndpoint,
  fieldNames,
  keyFor,
  OPERATOR_KEY,
  pathOf,
  titleOf
} from "../../support/checks/EndpointTable.ts"
import { at, expecting, listAt, textAt, valueAt } from "../../support/market/Market.ts"
import { LIVE, ServiceUnderTest } from "../../support/market/ServiceUnderTest.ts"

const document = openApiDocument("http://127.0.0.1:3000")

const WRONG = ["ada", "00000000-0000-4000-8000-00000000000", "ABCDEF00-0000-4000-8000-000000000000", "rcpt_xyz"]
const FORM = /must be (?:a UUID in lower case|`rcpt_` and .+ hex digits)/u

/** A tile's coordinates and a log's number are no ids. */
const withId = () => everyEndpoint().filter(({ path }) => /:(?:id|\w+_id)\b/u.test(path))
const isId = (name: string) => /(?:^id|_id)$/u.test(name)

it.layer(ServiceUnderTest.memory({ OPERATOR_KEY }), LIVE)("a malformed id", (it) => {
  it.effect("in a path is 404", () =>
    Effect.gen(function* () {
      const keys = yield* aKeyOfEachRole
      assert.isAbove(withId().length, 15)
      for (const endpoint of withId()) {
        for (const id of WRONG) {
          const path = endpoint.path.replace(/:\w+/u, id)
          const json = endpoint.payload === undefined ? {} : { json: {} }
          const answer = yield* expecting(404, { method: endpoint.method, path, key: keyFor(endpoint, keys), ...json })
          assert.match(textAt(answer, "message"), FORM, path)
          assert.include(textAt(answer, "message"), `\`${id}\` was sent`)
        }
      }
    })
  )

  it.effect("in a query is 400", () =>
    Effect.gen(function* () {
      const keys = yield* aKeyOfEachRole
      let asked = 0
      for (const endpoint of everyEndpoint()) {
        for (const name of fieldNames(endpoint.endpoint.query).filter(isId)) {
          for (const id of WRONG) {
            const path = `${pathOf(endpoint)}?${name}=${id}`
            const answer = yield* expecting(400, { method: endpoint.method, path, key: keyFor(endpoint, keys) })
            assert.match(textAt(answer, "message"), FORM, path)
            assert.match(textAt(answer, "message"), new RegExp(`^\`${name}\` .*; \`${id}\` was sent\\.$`, "u"))
            asked++
          }
        }
      }
      assert.isAbove(asked, 15)
    })
  )

  it.effect("in a body is 422", () =>
    Effect.gen(function* () {
      const keys = yield* aKeyOfEachRole
      let asked = 0
      // Verify returns a verdict for any body.
      for (const endpoint of everyBody().filter(({ path }) => path !== "/api/v1/verify")) {
        for (const { fields, path: place } of objectsOfBody(document, endpoint.path, endpoint.method)) {
          for (const name of fields.filter((field) => field.endsWith("_id") && place[0] !== "data")) {
            for (const id of [...WRONG, 7, null]) {
              const json = bodyWith(place, { [name]: id })
              const call = { method: endpoint.method, path: pathOf(endpoint), key: keyFor(endpoint, keys), json }
              const answer = yield* expecting(422, call)
              const fault = listAt(answer, "details").find(
                (one) => (valueAt(one, "path") as ReadonlyArray<string>).at(-1) === name
              )
              const said = String(valueAt(fault, "message"))
              assert.match(said, FORM, `${titleOf(endpoint)} ${answer.text}`)
              assert.include(said, `\`${id}\` was sent`)
              asked++
            }
          }
        }
      }
      assert.isAbove(asked, 50)
    })
  )

  it.effect("of a call that is the name of a tool: the message says where names belong", () =>
    Effect.gen(function* () {
      const keys = yield* aKeyOfEachRole
      const json = { tool_id: "demo/echo" }
      const answer = yield* expecting(422, { path: "/api/market/proxy", key: keys.consumer, json })
      assert.include(
        String(valueAt(listAt(answer, "details")[0], "message")),
        "`tool_id` must be a UUID in lower case (the name of a tool is sent as `tool_name`); `demo/echo` was sent"
      )
    })
  )

  it.effect("of a receipt and of a dispute has the same form everywhere", () =>
    Effect.gen(function* () {
      for (const path of ["/api/v1/market/receipts/rcpt_xyz", "/api/v1/market/receipts/rcpt_xyz/proof"]) {
        const answer = yield* expecting(404, { path })
        assert.deepStrictEqual(valueAt(listAt(answer, "details")[0], "path"), ["id"])
        assert.strictEqual(at(answer, "code"), "NOT_FOUND")
      }
    })
  )
})
