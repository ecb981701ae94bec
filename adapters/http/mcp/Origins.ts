/**
 * Which web pages may use a door. Other clients send no `Origin`. A page of a foreign site could reach a service on the
 * visitor's own machine or network by DNS rebinding.
 */
import { header, type WebRequest } from "../pipeline/WebRequest.ts"
import { invalidRequest, RpcFault } from "./RpcFault.ts"

/** Tools that developers run on their own machine. */
const LOCAL = /^https?:\/\/(?:localhost|127\.0\.0\.1|\[::1\])(?::\d{1,5})?$/u

export const originFault = (request: WebRequest, baseUrl: string): RpcFault | undefined => {
  const origin = header(request, "origin")
  if (origin === undefined || origin === new URL(baseUrl).origin || LOCAL.test(origin)) return undefined
  const reason = "Requests of web pages are only accepted from this service's own pages and from localhost."
  return new RpcFault({ ...invalidRequest(reason), status: 403, reason, data: undefined, id: undefined })
}
