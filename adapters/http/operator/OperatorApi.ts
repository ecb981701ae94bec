/**
 * Everything that the operator manages: the summary, solvency, platform funds, rolling reserves, platform fees,
 * handles, frozen accounts, the session in a browser, and the audit trail of everything that the operator changed.
 */
import { Schema } from "effect"
import { HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { OperatorSessionId } from "../../../domain/accounts/Authentication.ts"
import { Handle } from "../../../domain/accounts/Handle.ts"
import { PayoutState } from "../../../domain/earnings/PayoutStore.ts"
import { AuditedAction, AuditEntryId } from "../../../domain/operator/AuditTrail.ts"
import { PayoutId, ProviderId } from "../../../domain/shared/Ids.ts"
import * as Endpoint from "../contract/Endpoint.ts"
import { operatorAction, operatorRun, readBy, uncached } from "../contract/Endpoint.ts"
import * as Field from "../contract/Field.ts"
import { IntBetween, Line, Name, Note, pageQuery, Text } from "../contract/InputSchemas.ts"
import { CONSUMER_ID, KEY_ID, PAYOUT_ID, PROVIDER_ID, SAMPLE_OPERATOR_KEY } from "../contract/SampleValues.ts"
import * as shared from "../contract/SharedFields.ts"
import { answeredAt, consumerId, handle, PlatformFee, providerId, SetPlatformFee } from "../contract/SharedFields.ts"
import { solvencyFields } from "../payments/MoneyApi.ts"
import { Health } from "../platform/PlatformApi.ts"

// The operator looks at solvency, at what waits and at health first.

const Solvency = Field.object("Solvency", "Whether all spendable funds are backed.", {
  spendable_microcents: Field.signedMicrocents(
    "Funds that can be spent or withdrawn (consumer and provider balances, platform funds, clearing)",
    52_000_000
  ),
  received_microcents: Field.signedMicrocents(
    "Funds received by the payment processor (including deposits)",
    60_000_000
  ),
  sent_microcents: Field.signedMicrocents("Funds sent by the payment processor", 8_000_000),
  recorded_losses_microcents: Field.signedMicrocents(
    "Recorded losses (unrecovered chargebacks and refunds, processor fees beyond platform funds)",
    0
  ),
  shortfall_microcents: solvencyFields.shortfall_microcents,
  unbacked_microcents: solvencyFields.unbacked_microcents,
  platform_funds_microcents: Field.signedMicrocents("Platform funds (fees not withdrawn, and deposits)", 1_200_000),
  claims_on_providers_microcents: Field.signedMicrocents("Debt of providers to consumers for refunds", 0),
  claims_on_platform_microcents: Field.signedMicrocents("Debt of the platform to consumers for fees", 0),
  advanced_microcents: Field.signedMicrocents("Advances of the platform for providers (not repaid yet)", 0),
  timestamp: answeredAt
})

const Waiting = Schema.Struct({
  disputes: Field.int("Contested disputes, which wait for a decision.", 2),
  next_decision_at: Field.nullableTimestamp("Earliest deadline of these. `null`: none waits."),
  frozen_consumers: Field.int("Frozen consumers.", 1),
  open_payouts: Field.int("Payouts that are requested or transferring.", 3),
  failed_payouts: Field.int("Payouts that failed, including those that were retried.", 1)
})

const OperatorSummary = Field.object("OperatorSummary", "Solvency, what waits for the operator, and health.", {
  solvency: Field.of(Solvency, "Whether all spendable funds are backed."),
  waiting: Field.of(Waiting, "Numbers of what waits, each counted up to 10,000."),
  health: Field.of(Health, "Health of the node that answers."),
  timestamp: answeredAt
})

// Freezes of accounts, and retries of failed payouts, on the wire.

const FREEZE_REASON_CHARS_MAX = 500

const Freeze = Field.object("Freeze", "Why the account is frozen.", {
  reason: Field.of(Note(FREEZE_REASON_CHARS_MAX), "Reason. The account's owner sees it.", "Fraud is suspected.")
})

const Unfreeze = Field.object("Unfreeze", "Why the account is unfrozen.", {
  reason: Field.optional(Text(FREEZE_REASON_CHARS_MAX), "Reason, for the audit trail.")
})

const UnfreezeProvider = Field.object("UnfreezeProvider", "Why the provider is unfrozen.", {
  reason: Field.of(Note(FREEZE_REASON_CHARS_MAX), "Reason, for the audit trail.", "The suspicion was unfounded.")
})

const Frozen = Field.object("Frozen", "The account is frozen.", {
  consumer_id: consumerId,
  frozen: Field.always(true),
  was_frozen: Field.boolean("Whether the account was frozen before.", false),
  reason: Field.string("Reason for the freeze.", "Fraud is suspected.")
})

const FrozenProvider = Field.object("FrozenProvider", "The provider is frozen.", {
  provider_id: providerId,
  frozen: Field.always(true),
  was_frozen: Field.boolean("Whether the provider was frozen before.", false),
  reason: Field.string("Reason for the freeze.", "Fraud is suspected.")
})

const UnfrozenProvider = Field.object("UnfrozenProvider", "The provider is not frozen.", {
  provider_id: providerId,
  frozen: Field.always(false),
  was_frozen: Field.boolean("Whether the provider was frozen.")
})

const RetryPayout = Field.object("RetryPayout", "Why the payout is retried.", {
  reason: Field.of(
    Note(FREEZE_REASON_CHARS_MAX),
    "Reason, for the audit trail.",
    "The provider has completed its account."
  )
})

const RetriedPayout = Field.object("RetriedPayout", "The payout that replaces the failed one.", {
  payout_id: Field.of(PayoutId, "ID of the new payout.", KEY_ID),
  retried_payout_id: Field.of(PayoutId, "ID of the failed payout.", KEY_ID.replace(/.$/u, "f")),
  provider_id: providerId,
  amount_cents: Field.int("Amount in cents: what the provider has available now.", 12_500),
  state: Field.of(PayoutState, "How far the payout is.", "paid"),
  failure: Field.nullableString("Why the payout failed. `null`: it did not."),
  repeated: Field.boolean("Whether the payout existed before this request.", false)
})

const Unfrozen = Field.object("Unfrozen", "The account is not frozen.", {
  consumer_id: consumerId,
  frozen: Field.always(false),
  was_frozen: Field.boolean("Whether the account was frozen.")
})

const FUNDS_CENTS_MAX = 100_000_000
const REFERENCE_CHARS_MAX = 100

const amountCents = IntBetween(1, FUNDS_CENTS_MAX)
const action = Field.of(Schema.Literals(["deposit", "withdraw", "cover_losses"]), "Type of the movement.", "deposit")

const MoveFunds = Field.object("MoveFunds", "A movement of platform funds.", {
  action,
  amount_cents: Field.of(amountCents, "Amount in cents.", 50_000),
  reference: Field.of(
    Line(REFERENCE_CHARS_MAX).check(Schema.isMinLength(1)),
    "Your reference. A movement with the same reference is recorded once.",
    "wire 2026-11-22"
  )
})

const FundsMoved = Field.object("FundsMoved", "The recorded movement.", {
  action,
  amount_cents: Field.int("Amount in cents.", 50_000),
  reference: Field.string("Your reference.", "wire 2026-11-22"),
  repeated: Field.boolean("Whether the movement had been recorded before.", false),
  solvency: Field.of(Solvency, "Solvency after the movement.")
})

const lifted = Field.boolean("`true`: the reserve is released and nothing more is reserved.")

const SetReserve = Field.object("SetReserve", "Whether to lift the rolling reserve.", { lifted })

const Reserve = Field.object("Reserve", "The setting in effect.", { provider_id: providerId, lifted })

const SetHandle = Field.object("SetHandle", "The new handle.", {
  handle: Field.of(Handle, "New handle. It must be free and must not imitate the handle of a verified provider."),
  retire_previous: Field.optional(
    Schema.Boolean,
    "If `true`, the previous handle no longer resolves. Default: `false`."
  )
}).annotate({ examples: [{ handle: "ada-works" }] })

const ProviderHandle = Field.object("ProviderHandle", "The provider's handles.", {
  provider_id: providerId,
  handle,
  previous_handle: Field.string("Previous handle. It is never given to another provider.", "ada"),
  previous_retired: Field.boolean("Whether the previous handle no longer resolves.", false)
})

const HandleImitations = Field.object("HandleImitations", "Handles that imitate the handle of a verified provider.", {
  imitations: Field.list(
    Schema.Struct({
      handle: Field.string("Imitating handle.", "ada-t00ls"),
      provider_id: Field.of(
        ProviderId,
        "ID of the provider with the imitating handle.",
        PROVIDER_ID.replace(/e$/u, "f")
      ),
      imitates: Field.string("Imitated handle.", "ada-tools"),
      imitated_provider_id: Field.of(ProviderId, "ID of the verified provider.", PROVIDER_ID)
    }),
    "Pairs of imitating and imitated handle."
  ),
  total: Field.int("Number of pairs in the list.", 1)
})

export class OperatorApi extends HttpApiGroup.make("operator")
  .add(
    Endpoint.get("summary", "/api/v1/operator/summary", {
      access: readBy("operator"),
      summary: "Retrieve the operator's summary",
      description:
        "Returns what an operator looks at first, in one request: the solvency report, what waits, and the health of the node " +
        "that answers. Always 200, also if a part is `down`.",
      success: OperatorSummary
    }),
    Endpoint.get("solvency", "/api/v1/operator/solvency", {
      access: readBy("operator"),
      summary: "Retrieve the solvency report",
      description:
        "Compares the funds that can be spent or withdrawn with the funds received and sent. `unbacked_microcents` other " +
        "than 0 is a fault of the service; `shortfall_microcents` is the cost of processor events that you have to fund.",
      success: Solvency
    }),
    Endpoint.post("moveFunds", "/api/v1/operator/funds", {
      access: operatorAction("funds.move"),
      summary: "Record a movement of platform funds",
      description:
        "`deposit`: you added money to the processor's account. `withdraw`: you took out fees or deposits. " +
        "`cover_losses`: platform funds cover recorded losses. A `reference` is recorded once.",
      payload: MoveFunds,
      success: FundsMoved,
      problems: ["INSUFFICIENT_PLATFORM_FUNDS", "DUPLICATE"]
    }),
    Endpoint.post("setReserve", "/api/v1/operator/providers/:provider_id/reserve", {
      access: operatorAction("reserve.set"),
      summary: "Set a provider's rolling reserve",
      description: "`lifted: true` releases the reserve and reserves nothing more.",
      params: { provider_id: providerId },
      payload: SetReserve,
      success: Reserve
    }),
    Endpoint.get("platformFee", "/api/v1/operator/providers/:provider_id/platform-fee", {
      access: readBy("operator"),
      summary: "Retrieve a provider's platform fee",
      description: "Returns the fee in effect, an announced increase, and the history of the fee.",
      params: { provider_id: providerId },
      success: PlatformFee
    }),
    Endpoint.post("setPlatformFee", "/api/v1/operator/providers/:provider_id/platform-fee", {
      access: operatorAction("platform_fee.set"),
      summary: "Set a provider's platform fee",
      description:
        "A lower fee applies at once, a higher one after `PRICE_NOTICE_HOURS`; the provider sees both. Calls that are in " +
        "flight or settled keep the fee with which they were held. `null` removes the provider's own fee.",
      params: { provider_id: providerId },
      payload: SetPlatformFee,
      success: PlatformFee
    }),
    Endpoint.post("setHandle", "/api/v1/operator/providers/:provider_id/handle", {
      access: operatorAction("handle.set"),
      summary: "Change a provider's handle",
      description:
        "The previous handle still resolves to the provider, so that existing calls work, unless `retire_previous` is " +
        "`true`. It is never given to another provider.",
      params: { provider_id: providerId },
      payload: SetHandle,
      success: ProviderHandle,
      problems: ["DUPLICATE"]
    }),
    Endpoint.get("imitations", "/api/v1/operator/handles/imitations", {
      access: readBy("operator"),
      summary: "List imitating handles",
      description:
        "Returns at most 100 handles, in order, that were given before the imitated provider was verified. New imitations " +
        "are rejected.",
      success: HandleImitations
    }),
    Endpoint.post("freeze", "/api/v1/operator/consumers/:consumer_id/freeze", {
      access: operatorAction("account.freeze"),
      summary: "Freeze a consumer's account",
      description:
        "The account's calls are rejected until you unfreeze it; calls in flight end as usual. The owner sees the reason, " +
        "and can still read and add funds.",
      params: { consumer_id: consumerId },
      payload: Freeze,
      success: Frozen
    }),
    Endpoint.post("unfreeze", "/api/v1/operator/consumers/:consumer_id/unfreeze", {
      access: operatorAction("account.unfreeze"),
      summary: "Unfreeze a consumer's account",
      description: "Known chargebacks do not freeze the account again; a new one does. A debt remains.",
      params: { consumer_id: consumerId },
      payload: Unfreeze,
      success: Unfrozen
    }),
    Endpoint.post("freezeProvider", "/api/v1/operator/providers/:provider_id/freeze", {
      access: operatorAction("provider.freeze"),
      summary: "Freeze a provider",
      description:
        "Its tools cannot be called, its reports are rejected, and nothing is paid out, until you unfreeze it. Calls in " +
        "flight are settled, payouts in progress end, and refunds are taken from its earnings. The owner sees the reason.",
      params: { provider_id: providerId },
      payload: Freeze,
      success: FrozenProvider
    }),
    Endpoint.post("unfreezeProvider", "/api/v1/operator/providers/:provider_id/unfreeze", {
      access: operatorAction("provider.unfreeze"),
      summary: "Unfreeze a provider",
      description: "Its tools can be called and it can be paid out again.",
      params: { provider_id: providerId },
      payload: UnfreezeProvider,
      success: UnfrozenProvider
    }),
    Endpoint.post("retryPayout", "/api/v1/operator/payouts/:payout_id/retry", {
      access: operatorRun("payout.retry"),
      summary: "Retry a failed payout",
      description:
        "A failed payout has returned its money. This starts a new one to the provider's own account, of what the provider " +
        "has available now, once for each failed payout. It is rejected for a frozen provider, and in a dry run.",
      params: { payout_id: Field.of(PayoutId, "ID of the failed payout.", PAYOUT_ID) },
      payload: RetryPayout,
      success: RetriedPayout,
      problems: [404, 422, "IDEMPOTENCY_CONFLICT", "ACCOUNT_FROZEN", "BELOW_MINIMUM", "NOT_CONFIGURED"]
    })
  )
  .annotateMerge(
    Endpoint.about(
      "Operator",
      "Solvency, platform funds, reserves, platform fees, handles, frozen accounts and failed payouts. Needs `OPERATOR_KEY`."
    )
  ) {}

const KEY_CHARS_MAX = 1_000
const NAME_CHARS_MAX = 100
const SUBJECT_CHARS_MAX = 200

const SignIn = Field.object("OperatorSignIn", "The operator's key, and who signs in.", {
  key: Field.of(
    Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(KEY_CHARS_MAX)),
    "Value of `OPERATOR_KEY`.",
    SAMPLE_OPERATOR_KEY
  ),
  name: Field.of(Name(NAME_CHARS_MAX), "Your name, as the audit trail shows it. It is not verified.", "Ada Lovelace")
})

const session = {
  session_id: Field.nullable(OperatorSessionId, "ID of the session. `null`: the request has the key itself.", KEY_ID),
  name: Field.string("Name that was given at the sign-in.", "Ada Lovelace"),
  expires_at: Field.nullableTimestamp(
    "Time at which the session ends. It ends earlier after an hour without a request."
  )
}

const Session = Field.object("OperatorSession", "The session of this request.", session)

const SessionEnd = Field.object("OperatorSessionEnded", "The session has ended.", {
  ended: Field.boolean("Whether there was a session.")
})

const REASON_CHARS_MAX = 500

const EndSessions = Field.object("EndOperatorSessions", "Why all sessions are ended.", {
  reason: Field.of(Note(REASON_CHARS_MAX), "Reason, for the audit trail.", "A laptop was stolen.")
})

const SessionsEnd = Field.object("OperatorSessionsEnded", "All sessions have ended.", {
  ended: Field.int("Number of sessions that were ended.", 3)
})

const Entry = Field.object("AuditEntry", "One action of the operator.", {
  entry_id: Field.of(AuditEntryId, "ID of the entry.", KEY_ID),
  at: Field.timestamp("Time of the action."),
  action: Field.of(AuditedAction, "What was done.", "account.freeze"),
  actor: Field.string("Name that was given at the sign-in, or `API key`.", "Ada Lovelace"),
  session_id: Field.nullable(OperatorSessionId, "ID of the session. `null`: the request had the key itself.", KEY_ID),
  address: Field.string("IP address of the request.", "203.0.113.7"),
  subject: Field.nullableString("ID of the account, dispute or document. `null`: the action has none.", CONSUMER_ID),
  reason: Field.nullableString("Reason that was given. `null`: none.", "Fraud is suspected."),
  details: Field.nullableString("Body of the request as JSON. Texts beyond 500 characters are cut. `null`: none.", "{}")
})

const Entries = shared.pageOf(
  "AuditTrail",
  "A page of the audit trail.",
  "entries",
  Field.list(Entry, "Entries of this page, newest first.")
)

export class OperatorSessionApi extends HttpApiGroup.make("operatorSession")
  .add(
    Endpoint.post("signIn", "/api/v1/operator/session", {
      access: uncached,
      summary: "Sign in as the operator",
      description:
        "Exchanges the operator's key for a session cookie (`HttpOnly`, `SameSite=Strict`, and `Secure` behind HTTPS) that " +
        "works on pages of this service only, for 8 hours. Programs send the key as a bearer token instead. " +
        "At most 10 wrong attempts a minute.",
      payload: SignIn,
      success: Session.pipe(HttpApiSchema.status(201)),
      problems: [401, 403, 503, "NOT_CONFIGURED"]
    }),
    Endpoint.get("session", "/api/v1/operator/session", {
      access: readBy("operator"),
      summary: "Retrieve the operator's session",
      description: "Returns who is signed in, and until when.",
      success: Session
    }),
    Endpoint.delete("signOut", "/api/v1/operator/session", {
      access: operatorAction("session.end"),
      summary: "Sign out",
      description: "Ends the session of this request.",
      success: SessionEnd
    }),
    Endpoint.post("endSessions", "/api/v1/operator/sessions/end", {
      access: operatorAction("session.end_all"),
      summary: "End all sessions of the operator",
      description:
        "Signs everyone out, also the session of this request. `OPERATOR_KEY` still signs in: change it if it is known to " +
        "others.",
      payload: EndSessions,
      success: SessionsEnd
    }),
    Endpoint.get("auditTrail", "/api/v1/operator/audit-trail", {
      access: readBy("operator"),
      summary: "List what the operator changed",
      description:
        "Returns every action that succeeded, newest first. Entries are never changed or deleted. Reads are not recorded.",
      query: {
        ...pageQuery,
        action: Field.optional(AuditedAction, "Only this action."),
        subject: Field.optional(
          Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(SUBJECT_CHARS_MAX)),
          "Only actions on the account, dispute or document with this ID."
        )
      },
      success: Entries
    })
  )
  .annotateMerge(
    Endpoint.about(
      "Operator session",
      "Sign-in of the operator in a browser, and the audit trail. Needs `OPERATOR_KEY`."
    )
  ) {}
