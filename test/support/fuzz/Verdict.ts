/**
 * The faults of a response, in words: a server error, or a violation of the contract.
 */
import type { WebRequest } from "../../../adapters/http/pipeline/WebRequest.ts"
import { Effect, type Schema } from "effect"
import { contractFaults } from "../checks/ContractCheck.ts"
import { valueAt } from "../market/Market.ts"
import type { FuzzAnswer } from "./Client.ts"
import type { FuzzRequest } from "./Requests.ts"

export const jsonOf = ({ bytes, headers }: FuzzAnswer): Schema.Json | undefined =>
  /^application\/(?:[a-z.+-]+\+)?json(?:;|$)/u.test(headers["content-type"] ?? "") && bytes.length > 0
    ? (JSON.parse(bytes.toString("utf8")) as Schema.Json)
    : undefined

export const faultsOf = (sent: FuzzRequest, answer: FuzzAnswer): ReadonlyArray<string> => {
  const json = jsonOf(answer)
  const faults = isOurFault(sent, answer.status, json) ? [`${answer.status} is a fault of the service`] : []
  // What Node rejects before it is a request has a form of its own; a HEAD has no body to check.
  if (sent.method === "HEAD" || sent.path === "*" || answer.status === 431) return faults
  const text = answer.bytes.toString("utf8")
  const known = { ...answer, text, json, bodyWasRead: true, log: "" }
  return [...faults, ...contractFaults(asWebRequest(sent), known)]
}

/**
 * Accepted errors: a provider's failure, with a receipt that says so, or when its tools are read; what the run's configuration omits; not yet
 * available; and a degraded health for a database which is slow under the load of the machine.
 */
const isOurFault = ({ path }: FuzzRequest, status: number, json: Schema.Json | undefined): boolean => {
  if (status < 500) return false
  const code = valueAt(json, "code")
  if (valueAt(json, "receipt_id") !== undefined || code === "NOT_CONFIGURED") return false
  if (path.startsWith("/api/market/health") && valueAt(json, "status") === "degraded") return false
  if (code === "PROVIDER_ERROR" && path.includes("/tools/import")) return false
  return !(code === "UNAVAILABLE" && path.includes("/proof"))
}

const asWebRequest = ({ headers, method, path }: FuzzRequest): WebRequest => {
  const mark = path.indexOf("?")
  return {
    method,
    path: mark === -1 ? path : path.slice(0, mark),
    query: mark === -1 ? "" : path.slice(mark + 1),
    headers,
    remoteAddress: "127.0.0.1",
    body: () => Effect.succeed(new Uint8Array())
  }
}
