/**
 * The client's address: the peer's, or, behind trusted proxies, the last address in `X-Forwarded-For` that is not one of
 * them.
 */
import { Context } from "effect"
import ipaddr from "ipaddr.js"
import { header, type WebRequest } from "./WebRequest.ts"

export type TrustedProxies = ReadonlyArray<readonly [ipaddr.IPv4 | ipaddr.IPv6, number]>

export const TrustedProxyRanges = Context.Reference<TrustedProxies>(
  "agent-tool-billing/adapters/http/TrustedProxyRanges",
  { defaultValue: () => [] }
)

/** Addresses and CIDR ranges. Throws an error that names the malformed one. */
export const parseTrustedProxies = (ranges: ReadonlyArray<string>): TrustedProxies =>
  ranges.map((range) => {
    try {
      if (range.includes("/")) return ipaddr.parseCIDR(range)
      const address = ipaddr.process(range)
      return [address, address.kind() === "ipv4" ? 32 : 128] as const
    } catch {
      throw new Error(`"${range}" is neither an IP address nor a CIDR range`)
    }
  })

export const clientAddress = (request: WebRequest, trusted: TrustedProxies): string => {
  if (trusted.length === 0) return request.remoteAddress
  const forwarded = (header(request, "x-forwarded-for") ?? "")
    .split(",")
    .map((part) => part.trim())
    .filter(Boolean)
  let address = request.remoteAddress
  while (forwarded.length > 0 && isTrusted(address, trusted)) {
    const next = forwarded.pop()!
    if (!ipaddr.isValid(next)) break
    address = ipaddr.process(next).toString()
  }
  return address
}

/** Of a client whose address the server does not tell: limits by address do not apply to it. */
export const UNKNOWN_ADDRESS = "unknown"

/** An IPv4 peer of a dual-stack socket without its IPv6 prefix. */
export const plainAddress = (address: string | undefined): string =>
  address === undefined ? UNKNOWN_ADDRESS : address.startsWith("::ffff:") ? address.slice(7) : address

/** An IPv4 address, or the 64 bits of an IPv6 network, whose holder may use any address in it. */
export const networkOf = (address: string): string =>
  address.includes(":") && ipaddr.IPv6.isValid(address)
    ? `${ipaddr.IPv6.parse(address)
        .parts.slice(0, 4)
        .map((part) => part.toString(16))
        .join(":")}::/64`
    : address

export const isTrusted = (address: string, trusted: TrustedProxies): boolean => {
  if (!ipaddr.isValid(address)) return false
  const parsed = ipaddr.process(address)
  return trusted.some(([range, bits]) => range.kind() === parsed.kind() && parsed.match(range, bits))
}
