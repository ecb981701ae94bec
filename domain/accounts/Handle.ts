/**
 * A provider's handle: its unique name in qualified tool names, `handle/tool_name`. These rules need no store: the
 * form, reserved words, look-alikes, and the handle derived from a provider's name.
 */
import { Context, type DateTime, type Effect, type Option, Schema } from "effect"
import type { ProviderId } from "../shared/Ids.ts"
import type { StoreUnavailable } from "../shared/StoreUnavailable.ts"

export const HANDLE_CHARS_MIN = 3
export const HANDLE_CHARS_MAX = 32

/** Single dashes, only between other characters. */
const FORM = /^[a-z0-9]+(?:-[a-z0-9]+)*$/u
const message = "must be 3 to 32 lowercase letters, digits and single dashes, with no dash at the start or end"

export const Handle = Schema.String.check(
  Schema.isMinLength(HANDLE_CHARS_MIN, { message }),
  Schema.isMaxLength(HANDLE_CHARS_MAX, { message }),
  Schema.isPattern(FORM, { message })
)

export const isHandle = (text: string): boolean =>
  text.length >= HANDLE_CHARS_MIN && text.length <= HANDLE_CHARS_MAX && FORM.test(text)

const RESERVED: ReadonlyArray<string> =
  `about abuse account accounts admin administrator agent agents agent-tool-billing all anonymous api app apps auth billing
  blog catalog catalogue changelog cdn config consumer consumers contact dashboard dev developer developers dispute
  disputes docs documentation erased example examples ftp guest health help home host info internal invoice invoices
  legal llms localhost login logout mail mailer-daemon market marketplace mcp me metrics money moderator network news
  nobody noreply no-reply null official openapi operator owner pay payment payments payout payouts ping platform policy
  postmaster pricing privacy provider providers public receipt receipts refund refunds register robots root sales
  secure security self service services settings signin signup sla spec staff static stats status support
  sysadmin system team terms test tool tools trust undefined unverified user users verification verified verify wallet
  webhook webhooks webmaster well-known whoami www`.split(/\s+/u)

const LOOKS_LIKE: Readonly<Record<string, string>> = {
  "0": "o",
  "1": "l",
  "2": "z",
  "3": "e",
  "4": "a",
  "5": "s",
  "6": "g",
  "7": "t",
  "8": "b",
  "9": "g",
  i: "l"
}

/**
 * The appearance of a handle: without separators, digits as the letters that they resemble, `rn` and `vv` as `m` and
 * `w`, repeated characters once. Two handles with one skeleton look alike.
 */
export const skeletonOf = (handle: string): string =>
  handle
    .toLowerCase()
    .replaceAll(/[^a-z0-9]/gu, "")
    .replaceAll(/[0-9i]/gu, (character) => LOOKS_LIKE[character]!)
    .replaceAll("rn", "m")
    .replaceAll("vv", "w")
    .replaceAll(/(.)\1+/gu, "$1")

const RESERVED_SKELETONS: ReadonlySet<string> = new Set(RESERVED.map(skeletonOf))

/** Handles of erased accounts begin with it. */
export const ERASED_PREFIX = "erased-"

export const isReserved = (handle: string): boolean =>
  RESERVED_SKELETONS.has(skeletonOf(handle)) || handle.startsWith(ERASED_PREFIX)

/** The handle derived from a provider's name; undefined if there is none. */
export const slugOf = (name: string): string | undefined => {
  const plain = name.normalize("NFKD").replaceAll(/\p{M}/gu, "").toLowerCase()
  const slug = shortened(plain.replaceAll(/[^a-z0-9]+/gu, "-"), HANDLE_CHARS_MAX)
  return slug.length < HANDLE_CHARS_MIN ? undefined : slug
}

/** Appends the last digits of the provider's id, which are random. */
export const suffixed = (slug: string, providerId: string, digits: number): string => {
  const suffix = providerId.replaceAll("-", "").slice(-digits)
  return `${shortened(slug, HANDLE_CHARS_MAX - digits - 1)}-${suffix}`
}

export const qualifiedName = (handle: string, toolName: string): string => `${handle}/${toolName}`

/** Undefined if it is not a qualified name. A tool's own name may contain slashes. */
export const splitQualified = (name: string): { readonly handle: string; readonly toolName: string } | undefined => {
  const slash = name.indexOf("/")
  if (slash < HANDLE_CHARS_MIN || slash === name.length - 1) return undefined
  const handle = name.slice(0, slash)
  return isHandle(handle) ? { handle, toolName: name.slice(slash + 1) } : undefined
}

const shortened = (slug: string, chars: number): string => slug.replace(/^-+/u, "").slice(0, chars).replace(/-+$/u, "")

/** A provider takes a handle. Handles whose skeletons are equal look alike, so only one provider may have them. */
export interface HandleClaim {
  readonly handle: string
  /** The value of `Handle.skeletonOf`. */
  readonly skeleton: string
  readonly providerId: ProviderId
  readonly at: DateTime.Utc
}

/** A handle that looks like the handle of another, verified provider. */
export interface Imitation {
  readonly handle: string
  readonly providerId: ProviderId
  readonly imitates: string
  readonly imitatedProviderId: ProviderId
}

/** Port to handles, past and present. Rows are never removed, so no handle is given to a second provider. */
export class HandleStore extends Context.Service<
  HandleStore,
  {
    /** False if it belongs, or belonged, to another provider. A retired handle resolves again. */
    claim(claim: HandleClaim): Effect.Effect<boolean, StoreUnavailable>
    /** The provider of each, also if it is retired; not of one that was never given, or whose account is erased. */
    ownersOf(handles: ReadonlyArray<string>): Effect.Effect<ReadonlyMap<string, ProviderId>, StoreUnavailable>
    /** Its provider, by a current or a former handle, but not by a retired one. */
    resolve(handle: string): Effect.Effect<Option.Option<ProviderId>, StoreUnavailable>
    /** It no longer resolves. */
    retire(handle: string): Effect.Effect<void, StoreUnavailable>
    /** A handle with this skeleton of another, verified provider. */
    imitated(skeleton: string, except: ProviderId): Effect.Effect<Option.Option<string>, StoreUnavailable>
    /** Current handles that look like a verified provider's, at most `limit`, by name. */
    imitations(limit: number): Effect.Effect<ReadonlyArray<Imitation>, StoreUnavailable>
    /** Checks whether another provider has a tool whose name begins with `handle/`. */
    beginsToolName(handle: string, except: ProviderId): Effect.Effect<boolean, StoreUnavailable>
    /** The handles are replaced by hashes: they do not resolve, and no other provider gets them. */
    erase(providerId: ProviderId): Effect.Effect<void, StoreUnavailable>
  }
>()("agent-tool-billing/domain/accounts/HandleStore") {}
