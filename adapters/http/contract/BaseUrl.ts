/**
 * The service's public URL, with the prefix under which it is mounted; every link in a response begins with it. And its versions.
 */
import { Context } from "effect"

export class BaseUrl extends Context.Service<BaseUrl, string>()("agent-tool-billing/adapters/http/BaseUrl") {}

/** The prefix; empty at the root. */
export const prefixOf = (baseUrl: string): string => baseUrl.replace(/^https?:\/\/[^/]+/u, "")

/** A page of the service; below a prefix, where it has none, the home page of the app around it. */
export const pageUrl = (baseUrl: string, path: `/${string}`): string => {
  const prefix = prefixOf(baseUrl)
  return prefix === "" ? `${baseUrl}${path}` : `${baseUrl.slice(0, -prefix.length)}/`
}

/** The page where a consumer sets its default cap. */
export const defaultCapPage = (baseUrl: string): string => pageUrl(baseUrl, "/developer/connect")

// The versions that the service states.

export const API_VERSION = "0.4.0" as const
/** The market API has its own version. */
export const API_VERSION_OF = "the platform API under /api/v1, and the trust layer"
export const MARKET_VERSION_OF = "the market API under /api/market"
