/**
 * Receipts of calls: created, signed, verified and read. `CallStore.close` writes them.
 */
import { Context, type DateTime, Effect, Exit, Layer, type Option, Predicate, Schema, Semaphore } from "effect"
import { ConsumerId, type LevelId, isReceiptId, ProviderId, ReceiptId, ToolId } from "../shared/Ids.ts"
import { type Microcents, MicrocentsFromInt } from "../shared/Microcents.ts"
import { COUNTED_MAX, type Page, type PageRequest } from "../shared/Page.ts"
import type { StoreUnavailable } from "../shared/StoreUnavailable.ts"
import { format, Timestamp } from "../shared/Time.ts"
import { INVALID_PARAMS, MISSING_CAPABILITY } from "../upstream/Protocol.ts"
import type { UpstreamResponse } from "../upstream/ToolUpstream.ts"

/** Only `success` is charged by default. */
export const ReceiptStatus = Schema.Literals(["success", "error", "timeout", "rate_limited"])
export type ReceiptStatus = typeof ReceiptStatus.Type

/** The signature in hex. */
export const SIGNATURE = /^[0-9a-f]{64}$/u

/**
 * The public receipt: exactly eleven fields, seven of them signed. What was signed is stored and returned byte for
 * byte.
 */
export const Receipt = Schema.Struct({
  receipt_id: ReceiptId,
  tool_id: ToolId,
  tool_name: Schema.String,
  agent_id: ConsumerId,
  provider_id: ProviderId,
  timestamp: Timestamp,
  duration_ms: Schema.Int,
  cost_microcents: MicrocentsFromInt,
  status: ReceiptStatus,
  signature: Schema.String.check(Schema.isPattern(SIGNATURE)),
  created_at: Timestamp
}).annotate({ identifier: "Receipt" })
export type Receipt = typeof Receipt.Type

export const RECEIPT_ALGORITHM = "HMAC-SHA256" as const

/** The signed fields, in the order in which they are joined. */
export const SIGNED_FIELDS = [
  "receipt_id",
  "tool_id",
  "agent_id",
  "provider_id",
  "timestamp",
  "cost_microcents",
  "status"
] as const

export type SignedFields = Pick<Receipt, (typeof SIGNED_FIELDS)[number]>

/** Joined by a single `|`: no spaces, no trailing separator, the amount in base 10. */
export const canonical = (r: {
  readonly receipt_id: string
  readonly tool_id: string
  readonly agent_id: string
  readonly provider_id: string
  readonly timestamp: string
  readonly cost_microcents: bigint | number
  readonly status: string
}): string =>
  `${r.receipt_id}|${r.tool_id}|${r.agent_id}|${r.provider_id}|${r.timestamp}|${r.cost_microcents}|${r.status}`

// The verdict on a receipt, as far as it needs no key. Reports the first reason that applies.

/** The checks in the order in which they are made; `ok` if all passed. */
export type VerificationReason =
  | "missing_fields"
  | "ambiguous_fields"
  | "bad_receipt_id"
  | "bad_signature_format"
  | "signature_mismatch"
  | "ok"

/** Says whether a receipt's signature is genuine and, if not, the first reason. */
export interface Verdict {
  readonly valid: boolean
  readonly reason: VerificationReason
  /** The fields in signed order, then `signature`; only with `missing_fields`. */
  readonly missing: ReadonlyArray<string> | undefined
  /** Empty unless all seven signed fields have the right type. */
  readonly canonical: string
}

export type Examined =
  | { readonly _tag: "Rejected"; readonly verdict: Verdict }
  /** Only the signature is left to check. */
  | { readonly _tag: "Signed"; readonly canonical: string; readonly signature: string }

/** Accepts any value and never throws. The cost may be a bigint, as in `Receipt`, or a number, as in JSON. */
const examineReceipt = (candidate: unknown): Examined => {
  const fields = fieldsOf(candidate)
  const missing = SIGNED_FIELDS.filter((name) => !hasRightType(name, fields[name])) as Array<string>
  const signature = fields["signature"]
  const text = missing.length > 0 ? "" : canonicalOf(fields)
  if (!isText(signature)) missing.push("signature")
  const rejected = (reason: VerificationReason): Examined => ({
    _tag: "Rejected",
    verdict: { valid: false, reason, missing: reason === "missing_fields" ? missing : undefined, canonical: text }
  })
  if (missing.length > 0 || !isText(signature)) return rejected("missing_fields")
  if (SIGNED_FIELDS.some((name) => String(fields[name]).includes("|"))) return rejected("ambiguous_fields")
  if (!isReceiptId(String(fields["receipt_id"]))) return rejected("bad_receipt_id")
  if (!SIGNATURE.test(signature)) return rejected("bad_signature_format")
  return { _tag: "Signed", canonical: text, signature }
}

export const verdictOf = (text: string, genuine: boolean): Verdict => ({
  valid: genuine,
  reason: genuine ? "ok" : "signature_mismatch",
  missing: undefined,
  canonical: text
})

type Fields = Readonly<Partial<Record<string, unknown>>>

/** Each field is read once: a getter may throw or return another value the second time. */
const fieldsOf = (candidate: unknown): Fields =>
  Object.fromEntries([...SIGNED_FIELDS, "signature"].map((name) => [name, fieldOf(candidate, name)]))

const fieldOf = (candidate: unknown, name: string): unknown => {
  try {
    return isRecord(candidate) ? candidate[name] : undefined
  } catch {
    return undefined
  }
}

const isRecord = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const isText = (value: unknown): value is string => typeof value === "string" && value !== ""

const hasRightType = (name: (typeof SIGNED_FIELDS)[number], value: unknown): boolean =>
  name === "cost_microcents" ? typeof value === "bigint" || Number.isInteger(value) : isText(value)

const canonicalOf = (fields: Fields): string =>
  canonical({
    receipt_id: String(fields["receipt_id"]),
    tool_id: String(fields["tool_id"]),
    agent_id: String(fields["agent_id"]),
    provider_id: String(fields["provider_id"]),
    timestamp: String(fields["timestamp"]),
    cost_microcents: BigInt(fields["cost_microcents"] as bigint | number),
    status: String(fields["status"])
  })

// The cause of a call's `error`, where metrics must tell it from a failure of the provider. Stored beside the receipt,
// whose set of fields is fixed.

/**
 * `input_rejected`: the provider rejected the arguments (JSON-RPC error -32602), or the call of a client that cannot do what
 * the tool needs (-32021). `canceled`: the caller or the service ended the call, which counts against no provider.
 */
export type CallCause = "input_rejected" | "canceled"

const REJECTED: ReadonlySet<number | undefined> = new Set([INVALID_PARAMS, MISSING_CAPABILITY])

export const causeOf = (answer: UpstreamResponse): CallCause | undefined => {
  const { problem, status } = answer
  if (status !== "error") return undefined
  if (enderOf(answer) !== undefined) return "canceled"
  return problem?.kind === "json_rpc_error" && REJECTED.has(problem.rpcError?.code) ? "input_rejected" : undefined
}

export const enderOf = ({ endedBy, problem }: UpstreamResponse): UpstreamResponse["endedBy"] => {
  if (endedBy !== undefined) return endedBy
  if (problem?.kind === "overloaded") return "service"
  return problem?.kind === "canceled" ? "caller" : undefined
}

/** The key cannot be used at the moment. Nothing was signed; retry later. */
export class SignerUnavailable extends Schema.TaggedError<SignerUnavailable>()("SignerUnavailable", {
  cause: Schema.Defect()
}) {
  override get message() {
    return "The key that signs receipts is unavailable. Check the key service, and retry in a few seconds."
  }
}

/**
 * Port to the signing keys: signs with the newest and verifies with all of them. A remote key (a KMS) gets a limited time. A key
 * in this process has its answer at once (`Effect.succeed`) and needs no timer: every settlement waits for it.
 */
export class ReceiptSigner extends Context.Service<
  ReceiptSigner,
  {
    /** HMAC-SHA256 of the text's UTF-8 bytes: 64 lowercase hex digits. */
    sign(canonical: string): Effect.Effect<string, SignerUnavailable>
    /** Verifies in constant time with regard to the signature. False for a signature of any other form. */
    verify(canonical: string, signatureHex: string): Effect.Effect<boolean, SignerUnavailable>
  }
>()("agent-tool-billing/domain/receipts/ReceiptSigner") {}

/** The owner of receipts: a consumer sees its own calls, a provider the calls of its tools. */
export type ReceiptOwner =
  | { readonly role: "consumer"; readonly ownerId: ConsumerId }
  | { readonly role: "provider"; readonly ownerId: ProviderId }

/** A member that is undefined excludes no receipts. */
export interface ReceiptFilter {
  /** Of calls that a key or run made itself, not those below it. Default: of all. */
  readonly levelId?: LevelId | undefined
  readonly toolId: ToolId | undefined
  readonly status: ReceiptStatus | undefined
  /** Inclusive, by the time of the call; ISO 8601. */
  readonly from: string | undefined
  /** Exclusive. */
  readonly to: string | undefined
}

/** Totals are counted up to this. The receipts of one tool are looked for among all of the account. */
export const receiptsCountedMax = ({ toolId }: ReceiptFilter): number =>
  toolId === undefined ? COUNTED_MAX : COUNTED_MAX / 10

/** The facts that were recorded with a receipt and are not part of it. */
export interface Settled {
  /** The cause of a call that ended in `error` because of its caller. */
  readonly cause: CallCause | undefined
  /** The platform fee in effect when the call was held. */
  readonly feeBasisPoints: number
  readonly fee: Microcents
  /** The request that ended the call; undefined where the sweeper did, or where it has none. */
  readonly requestId: string | undefined
  /** Undefined for a call without a hold of its own: it was reported, or the sweeper ended it. */
  readonly holdMs: number | undefined
}

/** The receipt is in an archive whose files are not here, if it exists. */
export class ReceiptArchived extends Schema.TaggedError<ReceiptArchived>()("ReceiptArchived", {
  receiptId: ReceiptId,
  month: Schema.String
}) {
  override get message() {
    return `Receipts of ${this.month} such as ${this.receiptId} are in an archive, which is not available here.`
  }
}

/** Reads receipts. `CallStore.close` writes them, in the transaction that settles the call. */
export class ReceiptStore extends Context.Service<
  ReceiptStore,
  {
    find(id: ReceiptId): Effect.Effect<Option.Option<Receipt>, StoreUnavailable>
    settledOf(id: ReceiptId): Effect.Effect<Option.Option<Settled>, StoreUnavailable>
    /** A receipt that was moved to an archive. */
    findArchived(id: ReceiptId): Effect.Effect<Option.Option<Receipt>, ReceiptArchived | StoreUnavailable>
    /** The end of the newest archived month, ISO 8601: receipts that were created before are found by their ids only. */
    readonly archivedBefore: Effect.Effect<string | undefined, StoreUnavailable>
    /** Newest first: the calls of a consumer, or of a provider's tools. The total is at most `receiptsCountedMax`. */
    list(owner: ReceiptOwner, filter: ReceiptFilter, page: PageRequest): Effect.Effect<Page<Receipt>, StoreUnavailable>
  }
>()("agent-tool-billing/domain/receipts/ReceiptStore") {}

/** The facts of a call that a receipt records. `Receipts.sign` adds the times and the signature. */
export interface FinishedCall {
  readonly invocationId: ReceiptId
  readonly toolId: ToolId
  readonly toolName: string
  readonly consumerId: ConsumerId
  readonly providerId: ProviderId
  readonly calledAt: DateTime.Utc
  readonly durationMs: number
  readonly cost: Microcents
  readonly status: ReceiptStatus
}

/** A remote key that takes longer counts as unavailable. A settlement retries, within the time until its deadline. */
export const SIGNER_MS_MAX = 2_000

/** Remote verifications at once. Any client may verify, and must not use up what the key serves: settlements sign with it. */
export const REMOTE_VERIFICATIONS_MAX = 4

export class Receipts extends Context.Service<
  Receipts,
  {
    /** Signs the receipt as it is. */
    sign(receipt: Omit<Receipt, "signature">): Effect.Effect<Receipt, SignerUnavailable>
    /** Tells whether a value is an authentic, unchanged receipt: as `Receipt`, in its JSON form, or anything else. */
    verify(candidate: unknown): Effect.Effect<Verdict, SignerUnavailable>
    /** The signed receipt of a call. */
    issue(call: FinishedCall, issuedAt: DateTime.Utc): Effect.Effect<Receipt, SignerUnavailable>
    find(id: ReceiptId): Effect.Effect<Option.Option<Receipt>, StoreUnavailable>
    /** Newest first: the calls of a consumer, or of a provider's tools. */
    list(owner: ReceiptOwner, filter: ReceiptFilter, page: PageRequest): Effect.Effect<Page<Receipt>, StoreUnavailable>
  }
>()("agent-tool-billing/domain/receipts/Receipts") {
  static readonly layer = Layer.effect(
    Receipts,
    Effect.gen(function* () {
      const { find, list } = yield* ReceiptStore
      const signer = yield* ReceiptSigner
      const verifications = yield* Semaphore.make(REMOTE_VERIFICATIONS_MAX)

      const signatureOf = (text: string): Effect.Effect<string, SignerUnavailable> =>
        Effect.flatMapEager(inTime(signer.sign(text)), wellFormed)

      const issue = (call: FinishedCall, issuedAt: DateTime.Utc): Effect.Effect<Receipt, SignerUnavailable> =>
        Effect.suspend(() => {
          const signed = signedFieldsOf(call)
          return Effect.mapEager(signatureOf(canonical(signed)), (signature) =>
            receiptOf(call, signed, signature, issuedAt)
          )
        })

      const sign = (receipt: Omit<Receipt, "signature">): Effect.Effect<Receipt, SignerUnavailable> =>
        Effect.suspend(() => Effect.map(signatureOf(canonical(receipt)), (signature) => ({ ...receipt, signature })))

      /** The time includes waiting for the others. */
      const limited = (request: Effect.Effect<boolean, SignerUnavailable>) =>
        inTime(verifications.withPermit(inTime(request)))

      const verify = (candidate: unknown): Effect.Effect<Verdict, SignerUnavailable> =>
        Effect.suspend(() => {
          const examined = examineReceipt(candidate)
          if (examined._tag === "Rejected") return Effect.succeed(examined.verdict)
          const genuine = signer.verify(examined.canonical, examined.signature)
          return Effect.map(Exit.isExit(genuine) ? genuine : limited(genuine), (isGenuine) =>
            verdictOf(examined.canonical, isGenuine === true)
          )
        })

      return Receipts.of({ sign, verify, issue, find, list })
    })
  )
}

/** Does not wait for a signer that cannot be interrupted. */
const inTime = <A>(request: Effect.Effect<A, SignerUnavailable>): Effect.Effect<A, SignerUnavailable> =>
  Exit.isExit(request) ? request : limitedInTime(request)

const limitedInTime = <A>(request: Effect.Effect<A, SignerUnavailable>): Effect.Effect<A, SignerUnavailable> =>
  Effect.withFiber(({ context }) =>
    Effect.callback<A, SignerUnavailable>((resume) => {
      const fork = Effect.runForkWith(context)
      const fiber = fork(request)
      const ended = fiber.pollUnsafe()
      if (ended !== undefined) return resume(ended)
      const timer = fork(Effect.sleep(SIGNER_MS_MAX))
      timer.addObserver((exit) => {
        if (exit._tag === "Success") resume(LATE)
        fiber.interruptUnsafe()
      })
      fiber.addObserver((exit) => {
        resume(exit)
        timer.interruptUnsafe()
      })
      return Effect.sync(() => timer.interruptUnsafe())
    })
  )

const LATE = Effect.fail(new SignerUnavailable({ cause: new Error(`No response within ${SIGNER_MS_MAX} ms`) }))

const MALFORMED = Effect.die(new Error("The signer returned a signature that is not 64 lowercase hex digits."))

/** A receipt is stored for good, so a wrong signature must not get into one. */
const wellFormed = (signature: string): Effect.Effect<string> =>
  Predicate.isString(signature) && SIGNATURE.test(signature) ? Effect.succeed(signature) : MALFORMED

const signedFieldsOf = (call: FinishedCall): SignedFields => ({
  receipt_id: call.invocationId,
  tool_id: call.toolId,
  agent_id: call.consumerId,
  provider_id: call.providerId,
  timestamp: format(call.calledAt),
  cost_microcents: call.cost,
  status: call.status
})

const receiptOf = (call: FinishedCall, signed: SignedFields, signature: string, issuedAt: DateTime.Utc): Receipt => ({
  ...signed,
  tool_name: call.toolName,
  duration_ms: call.durationMs,
  signature,
  created_at: format(issuedAt)
})
