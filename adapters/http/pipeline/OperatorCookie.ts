/**
 * The cookie of an operator's session, and who may use it: only pages of this service. A cookie is sent along by the
 * browser, so alone it proves nothing about the page that sent the request.
 */
import { Duration } from "effect"
import { SESSION_LIFE } from "../../../domain/operator/OperatorSessions.ts"
import { header, type WebRequest } from "./WebRequest.ts"

const TOKEN = /^[0-9a-f]{64}$/u

/** Browsers let no other site and no plain HTTP set a cookie with this prefix. */
const nameFor = (isSecure: boolean): string => (isSecure ? "__Host-operator-session" : "operator-session")

const isSecure = (baseUrl: string): boolean => baseUrl.startsWith("https:")

const attributes = (baseUrl: string): string =>
  `Path=/; HttpOnly; SameSite=Strict${isSecure(baseUrl) ? "; Secure" : ""}`

export const sessionCookie = (baseUrl: string, token: string): string =>
  `${nameFor(isSecure(baseUrl))}=${token}; Max-Age=${Duration.toSeconds(SESSION_LIFE)}; ${attributes(baseUrl)}`

export const endedCookie = (baseUrl: string): string =>
  `${nameFor(isSecure(baseUrl))}=; Max-Age=0; ${attributes(baseUrl)}`

/** Undefined without a cookie that has the form of ours. */
export const sessionToken = (request: WebRequest, baseUrl: string): string | undefined => {
  const prefix = `${nameFor(isSecure(baseUrl))}=`
  const cookies = (header(request, "cookie") ?? "").split(";").map((cookie) => cookie.trim())
  const token = cookies.find((cookie) => cookie.startsWith(prefix))?.slice(prefix.length)
  return token !== undefined && TOKEN.test(token) ? token : undefined
}

/**
 * Whether a page of this service sent the request. No page can set these headers. A browser sends `Origin` with every
 * request that may change something; a read without either header comes from an old browser, and `SameSite` covers it.
 */
export const isFromOwnPage = (request: WebRequest, baseUrl: string): boolean => {
  const site = header(request, "sec-fetch-site")
  if (site !== undefined && site !== "same-origin") return false
  const origin = header(request, "origin")
  if (origin === undefined) return request.method === "GET" || request.method === "HEAD"
  return origin === new URL(baseUrl).origin || isOwnHost(origin, header(request, "host"), isSecure(baseUrl))
}

/** Behind HTTPS, a page that came in plain text is not ours: anyone on its way may have written it. */
const isOwnHost = (origin: string, host: string | undefined, onlySecure: boolean): boolean => {
  const page = URL.parse(origin)
  return host !== undefined && page?.host === host.toLowerCase() && (!onlySecure || page.protocol === "https:")
}
