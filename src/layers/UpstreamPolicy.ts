/**
 * Which addresses the service may connect to for a user.
 */
import { Result } from "effect"
import { parsePolicy, publicAndLoopback, publicOnly } from "../../adapters/mcp/AddressGuard.ts"
import type { AppConfig } from "../config/AppConfig.ts"

/** What the proxy may call. Development profiles include loopback. */
export const upstreamPolicy = (config: AppConfig) => {
  if (config.ALLOW_UPSTREAM === undefined) return config.profile === "production" ? publicOnly : publicAndLoopback
  return Result.getOrThrow(parsePolicy(config.ALLOW_UPSTREAM))
}
