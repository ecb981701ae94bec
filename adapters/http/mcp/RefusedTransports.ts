/**
 * What MCP clients try besides streamable HTTP with a key: OAuth, after a 401, and the older HTTP+SSE transport. Their users see
 * only the text of these responses.
 */
import { Effect } from "effect"
import { INVALID_REQUEST } from "../../../domain/upstream/Protocol.ts"
import { uncached } from "../contract/Access.ts"
import { BaseUrl, pageUrl } from "../contract/BaseUrl.ts"
import { documentRoute, type EncodedReply, type Route } from "../pipeline/Route.ts"
import { header, type WebRequest } from "../pipeline/WebRequest.ts"
import { errorMember, errorText, responseText } from "./RpcReply.ts"

const SSE_VERSION = "2024-11-05"

/**
 * Where clients look for an authorization server, with the path of a door behind it or before it. Only 404 lets them go on to
 * register, whose error they show.
 */
const METADATA = [
  "/.well-known/oauth-protected-resource",
  "/.well-known/oauth-authorization-server",
  "/.well-known/openid-configuration"
].flatMap((path) => [path, `${path}/*`])

export const refusalRoutes = Effect.gen(function* () {
  const baseUrl = yield* BaseUrl
  // RFC 6749 forbids quotation marks and backslashes. `mcp-remote` would read a status in the text as the status.
  const error = JSON.stringify({
    error: "invalid_request",
    error_description:
      "This server does not use OAuth, it takes an API key. If your client sends no key, let it send the header " +
      "`Authorization: Bearer <key>`. If it sends one, the key is wrong, has expired or was revoked: check that you copied all " +
      `of it. Get a key at ${pageUrl(baseUrl, "/developers/register")}.`
  })
  const refused = (status: number): EncodedReply => ({ status, headers: { "cache-control": "no-store" }, body: error })
  const route = (method: "GET" | "POST", path: string, reply: EncodedReply): Route => ({
    ...documentRoute(path as `/${string}`, uncached, Effect.succeed(reply), ""),
    method,
    decodeQuery: undefined
  })
  return [
    ...[...METADATA, "/mcp/.well-known/*", "/mcp/:provider/.well-known/*"].map((path) =>
      route("GET", path, refused(404))
    ),
    route("POST", "/register", refused(400)),
    route("GET", "/authorize", refused(400)),
    route("POST", "/authorize", refused(400)),
    route("POST", "/token", refused(400)),
    route("GET", "/sse", noEventTransport(baseUrl, "/mcp", 404)),
    // Of 400 the official clients show the body.
    route("POST", "/sse", noEventTransport(baseUrl, "/mcp", 400))
  ]
})

/** At a door, whether or not it has a key: 405 lets clients go on to streamable HTTP. Undefined for any other request. */
export const refusedEventTransport = (request: WebRequest, baseUrl: string): EncodedReply | undefined =>
  request.method === "GET" &&
  header(request, "mcp-session-id") === undefined &&
  (header(request, "mcp-protocol-version") ?? SSE_VERSION) === SSE_VERSION &&
  header(request, "accept")?.includes("text/event-stream") === true
    ? noEventTransport(baseUrl, request.path, 405)
    : undefined

const noEventTransport = (baseUrl: string, path: string, status: number): EncodedReply => {
  const message =
    `This server speaks MCP over streamable HTTP, not over the HTTP+SSE transport of ${SSE_VERSION}. Set the transport of your ` +
    `client to streamable HTTP (\`http\`), with the URL ${baseUrl}${path} and the header \`Authorization: Bearer <key>\`.`
  return {
    status,
    headers: status === 405 ? { allow: "POST, DELETE, OPTIONS" } : {},
    body: responseText(undefined, errorMember(errorText(INVALID_REQUEST, message)))
  }
}
