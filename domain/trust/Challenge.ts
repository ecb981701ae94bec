/**
 * Challenges say what a provider must do to verify a mailbox, a domain or a repository.
 */
import { Context, DateTime, type Effect, type Option } from "effect"
import type { ProviderId } from "../shared/Ids.ts"
import type { StoreUnavailable } from "../shared/StoreUnavailable.ts"
import type { VerificationLevel } from "./TrustScore.ts"

export type ProofLevel = Exclude<VerificationLevel, "unverified">

/** `new_email`: the mailbox that is to replace the provider's. It counts for nothing before. */
export type ProofKind = ProofLevel | "new_email"

/** A level that a provider verified or is about to verify. */
export interface Proof {
  readonly providerId: ProviderId
  readonly level: ProofKind
  /** The mailbox, the domain, the repository. */
  readonly subject: string
  /** SHA-256 of the token, hex; undefined once it was used. */
  readonly tokenHash: string | undefined
  /** Allows showing the challenge again; undefined for a mailed token. */
  readonly tokenSealed: string | undefined
  /** The challenge expires; a verification does not. */
  readonly expiresAt: DateTime.Utc | undefined
  readonly verifiedAt: DateTime.Utc | undefined
  readonly checkedAt: DateTime.Utc | undefined
  /** The number of checks in a row that missed it, and the time of the first. */
  readonly missed: number
  readonly missingSince: DateTime.Utc | undefined
}

/** The highest level that a provider has verified, and since when. */
export interface Verified {
  readonly level: VerificationLevel
  readonly at: DateTime.Utc | undefined
}

/** Port to verifications of providers: one of each kind, with its open challenge and the time since which it is valid. */
export class VerificationStore extends Context.Service<
  VerificationStore,
  {
    find(providerId: ProviderId, level: ProofKind): Effect.Effect<Option.Option<Proof>, StoreUnavailable>
    /** Locks it until the end of the unit of work. */
    lock(providerId: ProviderId, level: ProofKind): Effect.Effect<Option.Option<Proof>, StoreUnavailable>
    put(proof: Proof): Effect.Effect<void, StoreUnavailable>
    /** Removes all verifications of a provider; returns how many. */
    remove(providerId: ProviderId): Effect.Effect<number, StoreUnavailable>
    verified(providerId: ProviderId): Effect.Effect<Verified, StoreUnavailable>
    levels(providerIds: ReadonlyArray<ProviderId>): Effect.Effect<ReadonlyMap<ProviderId, Verified>, StoreUnavailable>
    /** Returns valid published proofs last checked before then, oldest first. */
    due(before: DateTime.Utc, limit: number): Effect.Effect<ReadonlyArray<Proof>, StoreUnavailable>
    /** Counts one more attempt of a kind within the time since then; returns the number. */
    attempt(
      providerId: ProviderId,
      kind: string,
      now: DateTime.Utc,
      since: DateTime.Utc
    ): Effect.Effect<number, StoreUnavailable>
    /**
     * Counts one more mail to an address, unless `max` were sent since then: then returns when the first of those was
     * sent. `addressHash`: SHA-256, hex.
     */
    mailed(
      addressHash: string,
      now: DateTime.Utc,
      since: DateTime.Utc,
      max: number
    ): Effect.Effect<DateTime.Utc | undefined, StoreUnavailable>
    /** Removes at most `limit` addresses without a mail since then; returns how many. */
    forgetMailed(before: DateTime.Utc, limit: number): Effect.Effect<number, StoreUnavailable>
  }
>()("agent-tool-billing/domain/trust/VerificationStore") {}

// Formats of proofs, and who may use which domain or repository: pure rules of names, addresses and files.

export const WELL_KNOWN_PATH = "/.well-known/mcp-billing-verify.txt"
export const REPOSITORY_FILE = ".mcp-billing.json"
export const RECORD_PREFIX = "_mcp-billing-verify"

export const recordName = (domain: string): string => `${RECORD_PREFIX}.${domain}`

export const recordValue = (providerId: ProviderId, token: string): string =>
  `mcp-billing-verify=${providerId.slice(0, 8)}-${token}`

/** The token of this provider in a record or file; other providers may have theirs beside it. */
export const tokenIn = (providerId: ProviderId, text: string): string | undefined => {
  const prefix = recordValue(providerId, "")
  const line = text
    .split(/[\r\n]+/u)
    .map((one) => one.trim())
    .find((one) => one.startsWith(prefix))
  return line?.slice(prefix.length)
}

const repositoryText = (providerId: ProviderId, token: string): string =>
  JSON.stringify({ provider_id: providerId, token }, null, 2)

/** The token in a repository's file, if it is this provider's. */
export const tokenInRepository = (providerId: ProviderId, text: string): string | undefined => {
  let parsed: unknown
  try {
    parsed = JSON.parse(text)
  } catch {
    return undefined
  }
  if (typeof parsed !== "object" || parsed === null) return undefined
  const { provider_id: id, token } = parsed as Readonly<Record<string, unknown>>
  return id === providerId && typeof token === "string" ? token : undefined
}

const DOMAIN = /^(?=.{4,253}$)(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?$/u
/**
 * Suffixes under which anyone can get a name, so that a name says nothing about its neighbors. Not the complete list.
 */
const SHARED = new Set([
  "co.uk",
  "com.au",
  "com.br",
  "co.jp",
  "co.nz",
  "co.za",
  "github.io",
  "gitlab.io",
  "pages.dev",
  "workers.dev",
  "vercel.app",
  "netlify.app",
  "fly.dev",
  "onrender.com",
  "herokuapp.com",
  "web.app",
  "firebaseapp.com",
  "azurewebsites.net",
  "cloudfront.net",
  "amazonaws.com",
  "run.app",
  "ngrok.app",
  "ngrok.io",
  "trycloudflare.com"
])

/** The endpoint's own host, or a domain above it that is not a shared suffix. */
export const ownsEndpoint = (domain: string, endpointUrl: string): boolean => {
  const host = URL.parse(endpointUrl)?.hostname.toLowerCase()
  if (host === undefined || !DOMAIN.test(domain) || SHARED.has(domain)) return false
  return host === domain || host.endsWith(`.${domain}`)
}

const HOSTS = ["github.com", "gitlab.com", "bitbucket.org"]
const NAME = /^(?!\.{1,2}$)[A-Za-z0-9._-]{1,100}$/u

/** Returns `https://host/owner/name`; undefined if it is not a supported repository URL. */
export const repositoryOf = (given: string): string | undefined => {
  const url = URL.parse(given)
  if (url === null || url.protocol !== "https:" || url.port !== "" || url.username !== "" || url.search !== "") {
    return undefined
  }
  const parts = url.pathname
    .replace(/\/$/u, "")
    .replace(/\.git$/u, "")
    .slice(1)
    .split("/")
  const named = parts.every((part) => NAME.test(part))
  const depthFits = parts.length === 2 || (url.hostname === "gitlab.com" && parts.length > 2 && parts.length <= 6)
  return HOSTS.includes(url.hostname) && named && depthFits ? `https://${url.hostname}/${parts.join("/")}` : undefined
}

/** URL of the raw file on the default branch. */
export const repositoryFileUrl = (repository: string): string => {
  const { hostname, pathname } = new URL(repository)
  if (hostname === "github.com") return `https://raw.githubusercontent.com${pathname}/HEAD/${REPOSITORY_FILE}`
  if (hostname === "gitlab.com") return `https://gitlab.com${pathname}/-/raw/HEAD/${REPOSITORY_FILE}`
  return `https://bitbucket.org${pathname}/raw/HEAD/${REPOSITORY_FILE}`
}

export const MAIL_TOKEN_HOURS = 24

export interface Challenge {
  readonly type: "email" | "dns_txt_or_well_known" | "repository_file"
  readonly recordName: string
  readonly recordValue: string
  readonly expiresAt: DateTime.Utc
  readonly instructions: string
}

/** The mail says to send its token there. Default: "the endpoint that verifies providers". */
export const VerificationEndpoint = Context.Reference<string>("agent-tool-billing/domain/trust/VerificationEndpoint", {
  defaultValue: () => "the endpoint that verifies providers"
})

export const letter = (token: string, endpoint: string): string =>
  [
    "A provider of MCP tools wants to verify this mailbox as its own.",
    "",
    `Send this token to ${endpoint}, with your provider key:`,
    "",
    `  {"level": "email", "token": "${token}"}`,
    "",
    `The token works once and expires after ${MAIL_TOKEN_HOURS} hours. If you did not request it, ignore this mail.`
  ].join("\n")

export const newAddressLetter = (token: string): string =>
  [
    "A provider of MCP tools wants to use this address as its contact address.",
    "",
    "To confirm it, enter this code on the provider dashboard, or send it as `token` to the endpoint that changes the address:",
    "",
    `  ${token}`,
    "",
    `The code works once and expires after ${MAIL_TOKEN_HOURS} hours. If you did not request it, ignore this mail.`
  ].join("\n")

/** The letter to the former address. */
export const addressChangedLetter = (handle: string): string =>
  [
    `The contact address of the provider ${handle} was changed. This address is no longer used.`,
    "",
    "If you did not change it, another person has an API key of the account: revoke your keys, and tell the operator of the",
    "service."
  ].join("\n")

export const publication = ({ expiresAt, level, providerId, subject }: Proof, token: string): Challenge => {
  const shared = { expiresAt: expiresAt ?? DateTime.makeUnsafe(0) }
  return level === "code"
    ? {
        ...shared,
        type: "repository_file",
        recordName: ".mcp-billing.json",
        recordValue: repositoryText(providerId, token),
        instructions: `Commit this as .mcp-billing.json to the default branch of ${subject}, then repeat this call.`
      }
    : {
        ...shared,
        type: "dns_txt_or_well_known",
        recordName: recordName(subject),
        recordValue: recordValue(providerId, token),
        instructions:
          `Publish this text as a TXT record of ${recordName(subject)}, or at ` +
          `https://${subject}/.well-known/mcp-billing-verify.txt, then repeat this call.`
      }
}
