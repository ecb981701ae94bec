/**
 * A provider's server may ask a client for roots, sampling and input, as far as the client has declared them. Clients
 * trust their server, and this service is their server: nothing else reaches them, and no address that is not https.
 */
import { isObject, membersOf } from "../shared/JsonText.ts"

/** The server cannot continue without input at addresses. */
const URL_ELICITATION_REQUIRED = -32042

type Members = Readonly<Record<string, unknown>>

/** `declared`: the capabilities of the client, as JSON. */
export const maySend = (declared: string | undefined, message: Members, text: string): boolean =>
  // What else it has could make it another message for some clients.
  Object.keys(message).every((name) => MEMBERS.has(name)) &&
  membersOf(text).length === Object.keys(message).length &&
  mayAsk(declared, message)

const MEMBERS: ReadonlySet<string> = new Set(["jsonrpc", "id", "method", "params"])

/** A result, or the state of a task, may ask only for what the client has declared. */
export const isInputPermitted = (declared: string | undefined, inputRequests: unknown): boolean =>
  inputRequests === undefined ||
  (isObject(inputRequests) && Object.values(inputRequests).every((one) => isObject(one) && mayAsk(declared, one)))

/** The same of an error. */
export const isErrorPermitted = (
  declared: string | undefined,
  { code, data }: { readonly code?: unknown; readonly data?: unknown }
): boolean => {
  if (code !== URL_ELICITATION_REQUIRED) return true
  const asked = isObject(data) ? data["elicitations"] : undefined
  return Array.isArray(asked) && asked.every((params) => mayAsk(declared, { method: "elicitation/create", params }))
}

const mayAsk = (declared: string | undefined, { method, params = {} }: Members): boolean => {
  if (method === "ping") return true
  // A client's tasks are not offered.
  if (declared === undefined || !isObject(params) || params["task"] !== undefined) return false
  const { elicitation, roots, sampling } = JSON.parse(declared) as Members
  switch (method) {
    case "roots/list":
      return isObject(roots)
    case "sampling/createMessage": {
      const hasTools = params["tools"] !== undefined || params["toolChoice"] !== undefined
      return isObject(sampling) && (!hasTools || isObject(sampling["tools"]))
    }
    case "elicitation/create": {
      if (!isObject(elicitation) || !hasOnlyHttps(params)) return false
      // Without a mode, in both places, it is the form of the first version.
      return params["mode"] === "url"
        ? isObject(elicitation["url"])
        : isObject(elicitation["form"]) || elicitation["url"] === undefined
    }
    default:
      return false
  }
}

/** Some clients do not distinguish upper and lower case. */
const hasOnlyHttps = (params: Members): boolean => {
  const urls = Object.entries(params).filter(([name]) => name.toLowerCase() === "url")
  return (params["mode"] !== "url" || urls.length > 0) && urls.every(([, url]) => isHttps(url))
}

const isHttps = (url: unknown): boolean =>
  typeof url === "string" && /^https:\/\/[^\s\p{C}\\]+$/iu.test(url) && URL.canParse(url)
