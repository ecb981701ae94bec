/**
 * A policy decides which addresses an outgoing connection may reach, from a resolved address in any notation. Addresses
 * that it does not name are rejected.
 */
import { Result, Schema } from "effect"
import ipaddr from "ipaddr.js"

/** The addresses to which calls of tools may connect. What no member allows is blocked. */
export interface EgressPolicy {
  /** Addresses that the public internet routes. */
  readonly public: boolean
  /** This machine, 127.0.0.0/8 and ::1. */
  readonly loopback: boolean
  /** Allowed for any kind of address. */
  readonly ranges: ReadonlyArray<AddressRange>
  /** Names that may resolve to loopback and private addresses; `.example` includes every name below it. */
  readonly hosts: ReadonlyArray<string>
}

/** The addresses of one CIDR range, such as `10.0.0.0/8`. */
export interface AddressRange {
  readonly base: ipaddr.IPv4 | ipaddr.IPv6
  readonly prefixBits: number
}

/** A part of the text that `parsePolicy` read is not an item of a policy. */
export class PolicyUnreadable extends Schema.TaggedError<PolicyUnreadable>()("PolicyUnreadable", {
  part: Schema.String
}) {
  override get message() {
    return `"${this.part}" is not public, loopback, a CIDR range or a host name`
  }
}

/** The policy of production: nothing in a private network can be reached. */
export const publicOnly: EgressPolicy = { public: true, loopback: false, ranges: [], hosts: [] }
/** Tools may run on this machine: development. */
export const publicAndLoopback: EgressPolicy = { ...publicOnly, loopback: true }

/**
 * Parses `public`, `loopback` (public and loopback), or a comma-separated list of CIDR ranges and host names. A list
 * allows only what it names, and may include `public`.
 */
export const parsePolicy = (text: string): Result.Result<EgressPolicy, PolicyUnreadable> => {
  const parts = text
    .split(",")
    .map((part) => part.trim().toLowerCase())
    .filter((part) => part !== "")
  if (parts.length === 0) return Result.fail(new PolicyUnreadable({ part: text }))
  const ranges: Array<AddressRange> = []
  const hosts: Array<string> = []
  for (const part of parts) {
    if (part === "public" || part === "loopback") continue
    const range = rangeOf(part)
    if (range !== undefined) ranges.push(range)
    else if (hostPattern.test(part)) hosts.push(part.startsWith("*.") ? part.slice(1) : part)
    else return Result.fail(new PolicyUnreadable({ part }))
  }
  const loopback = parts.includes("loopback")
  return Result.succeed({ public: parts.includes("public") || loopback, loopback, ranges, hosts })
}

/** Tells whether a connection to `hostname` may use `address`, one of its resolved addresses. */
export const mayDial = (policy: EgressPolicy, hostname: string, address: string): boolean => {
  const parsed = parse(address)
  if (parsed === undefined) return false
  if (policy.ranges.some(({ base, prefixBits }) => base.kind() === parsed.kind() && parsed.match([base, prefixBits]))) {
    return true
  }
  const kind = kindOf(parsed)
  return (
    (kind === "public" && policy.public) ||
    (kind === "loopback" && policy.loopback) ||
    (kind !== "refused" && policy.hosts.length > 0 && isListed(policy.hosts, hostname))
  )
}

type AddressKind = "public" | "loopback" | "private" | "refused"

/** Azure's metadata service, on an address that looks public. The others are link-local, private or shared. */
const metadata = ipaddr.IPv4.parse("168.63.129.16")
const nat64 = ipaddr.IPv6.parse("64:ff9b::")
const globalUnicast = ipaddr.IPv6.parse("2000::")

const kindOf = (address: ipaddr.IPv4 | ipaddr.IPv6): AddressKind => {
  const range = address.range()
  if (range === "loopback") return "loopback"
  if (range === "private" || range === "uniqueLocal") return "private"
  if (address instanceof ipaddr.IPv4) {
    return range === "unicast" && !address.match([metadata, 32]) ? "public" : "refused"
  }
  // A network with NAT64 reaches the public IPv4 internet this way.
  if (address.match([nat64, 96])) {
    return kindOf(new ipaddr.IPv4(address.toByteArray().slice(12))) === "public" ? "public" : "refused"
  }
  return range === "unicast" && address.match([globalUnicast, 3]) ? "public" : "refused"
}

/** Normalizes an address: an IPv4-mapped IPv6 address is the IPv4 address that is dialed. */
const parse = (text: string): ipaddr.IPv4 | ipaddr.IPv6 | undefined => {
  if (!ipaddr.IPv4.isValidFourPartDecimal(text) && !ipaddr.IPv6.isValid(text)) return undefined
  return ipaddr.process(text)
}

const hostPattern = /^(?:\*?\.)?(?!-)[a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63})*$/u

const isListed = (hosts: ReadonlyArray<string>, hostname: string): boolean => {
  const name = hostname.toLowerCase().replace(/\.$/u, "")
  return hosts.some((host) => (host.startsWith(".") ? name.endsWith(host) : name === host))
}

const rangeOf = (part: string): AddressRange | undefined => {
  const [address = "", bits, ...more] = part.split("/")
  const base = parse(address)
  if (base === undefined || more.length > 0) return undefined
  const bitsMax = base.kind() === "ipv4" ? 32 : 128
  const mapped = base.kind() === "ipv4" && address.includes(":") ? 96 : 0
  const prefixBits = bits === undefined ? bitsMax : /^\d{1,3}$/u.test(bits) ? Number(bits) - mapped : Number.NaN
  return prefixBits >= 0 && prefixBits <= bitsMax ? { base, prefixBits } : undefined
}
