/**
 * Whose address counts: the peer's, unless the peer is a proxy of ours, whose forwarded-for header is then believed,
 * from the right to the first address that is no proxy of ours.
 */
import ipaddr from "ipaddr.js"
import { header, type WebRequest } from "./WebRequest.ts"

export type TrustedProxies = ReadonlyArray<readonly [ipaddr.IPv4 | ipaddr.IPv6, number]>

/** Addresses and CIDR ranges; throws a sentence that names the one at fault. */
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

/** An IPv4 peer of a dual-stack socket under its plain name. */
export const plainAddress = (address: string | undefined): string =>
  address === undefined ? "unknown" : address.startsWith("::ffff:") ? address.slice(7) : address

/** Whose it is: an IPv4 address, or the 64 bits of an IPv6 network, in which its holder may have any address. */
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
