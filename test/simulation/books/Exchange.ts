/**
 * One request and its response, checked against the contract.
 */
import { Effect, type Schema } from "effect"
import type { Dispatcher } from "../../../adapters/http/pipeline/Dispatcher.ts"
import type { WebRequest } from "../../../adapters/http/pipeline/WebRequest.ts"
import { contractFaults } from "../../support/checks/ContractCheck.ts"
import type { Call } from "../../support/market/ServiceUnderTest.ts"
import type { Answer } from "../../support/checks/Answer.ts"
import { Violation } from "./Violation.ts"

export const exchange = Effect.fnUntraced(function* (dispatcher: Dispatcher["Service"], call: Call) {
  const request = requestOf(call)
  const { body, headers, status } = yield* dispatcher.dispatch(request)
  const text = typeof body === "string" ? body : new TextDecoder().decode(body)
  const isJson = /^application\/(?:[a-z.+-]+\+)?json(?:;|$)/u.test(headers["content-type"] ?? "")
  const answer: Answer = {
    status,
    headers,
    text,
    bytes: new Uint8Array(),
    json: isJson ? (JSON.parse(text) as Schema.Json) : undefined,
    bodyWasRead: true,
    log: ""
  }
  const faults = contractFaults(request, answer)
  if (faults.length > 0) {
    return yield* Effect.die(
      new Violation({ rule: "contract", detail: `${request.method} ${request.path} ${status}: ${faults.join("; ")}` })
    )
  }
  return answer
})

const requestOf = (call: Call): WebRequest => {
  const text = call.json === undefined ? call.body : JSON.stringify(call.json)
  const bytes = typeof text === "string" ? new TextEncoder().encode(text) : new Uint8Array()
  const [path = "", query = ""] = call.path.split("?")
  return {
    method: call.method ?? (text === undefined ? "GET" : "POST"),
    path,
    query,
    headers: {
      ...(call.key === undefined ? {} : { authorization: `Bearer ${call.key}` }),
      ...(text === undefined ? {} : { "content-type": "application/json" }),
      ...call.headers
    },
    remoteAddress: "192.0.2.1",
    body: () => Effect.succeed(bytes)
  }
}
