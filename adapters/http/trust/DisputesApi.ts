/**
 * Disputes about calls: filed by a party, answered by the provider, decided on evidence or by the operator.
 */
import { Schema } from "effect"
import { HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { ReceiptId } from "../../../domain/shared/Ids.ts"
import { MicrocentsFromInt } from "../../../domain/shared/Microcents.ts"
import {
  DecidedBy,
  DisputeId,
  DisputeReason,
  DisputeStatus,
  Party,
  Resolution
} from "../../../domain/trust/DisputeStore.ts"
import * as Endpoint from "../contract/Endpoint.ts"
import { operatorAction, readBy, uncachedWithKey, writeBy } from "../contract/Endpoint.ts"
import * as Field from "../contract/Field.ts"
import { Name, Note, pageQuery, Text } from "../contract/InputSchemas.ts"
import { BASE_URL, CONSUMER_ID, DISPUTE_ID, RECEIPT_ID } from "../contract/SampleValues.ts"
import * as shared from "../contract/SharedFields.ts"

const TEXT_CHARS_MAX = 4_000
const EVIDENCE_CHARS_MAX = 16_384
const REFERENCE_CHARS_MAX = 100

const Evidence = Schema.Record(Schema.String, Schema.Json).check(
  Schema.makeFilter((evidence) =>
    JSON.stringify(evidence).length <= EVIDENCE_CHARS_MAX
      ? undefined
      : `must have at most ${EVIDENCE_CHARS_MAX} characters of JSON`
  )
)
const evidence = Field.optional(Evidence, `Evidence: a JSON object of at most ${EVIDENCE_CHARS_MAX} characters.`)

const FileDispute = Field.object("FileDispute", "A new dispute.", {
  receipt_id: Field.of(ReceiptId, "ID of the call's receipt.", RECEIPT_ID),
  reason: Field.of(DisputeReason, "Reason of the dispute. `other` requires a description."),
  description: Field.optional(Text(TEXT_CHARS_MAX), "Description. Visible to the other party, not to the public."),
  evidence,
  reference: Field.optional(
    Name(REFERENCE_CHARS_MAX),
    "Your own reference, such as the number of a ticket. Visible to the other party, not to the public."
  )
})
  .check(
    Schema.makeFilter((filing) =>
      filing.reason !== "other" || (filing.description ?? "").trim() !== ""
        ? undefined
        : { path: ["description"], issue: "`description` is required where `reason` is `other`." }
    )
  )
  .annotate({
    identifier: "FileDispute",
    examples: [
      {
        receipt_id: RECEIPT_ID as never,
        reason: "quality",
        description: "The answer was about another paper",
        reference: "SUP-1042"
      }
    ]
  })

const AnswerDispute = Field.object("AnswerDispute", "The provider's answer.", {
  action: Field.of(
    Schema.Literals(["accept", "contest"]),
    "`accept` refunds the consumer. `contest` leaves the decision to the operator, until `decide_by`."
  ),
  message: Field.optional(Text(TEXT_CHARS_MAX), "Reason for contesting the dispute."),
  evidence
})
  .check(
    Schema.makeFilter((answer) =>
      answer.action === "accept" || (answer.message ?? "").trim() !== ""
        ? undefined
        : { path: ["message"], issue: "`message` is required where `action` is `contest`: say why." }
    )
  )
  .annotate({
    identifier: "AnswerDispute",
    examples: [{ action: "contest", message: "The query named that paper", evidence: { trace: "7f3a" } }]
  })

const ResolveDispute = Field.object("ResolveDispute", "The operator's decision.", {
  resolution: Field.of(Resolution, "Decision."),
  note: Field.optional(Note(TEXT_CHARS_MAX), "Explanation for the parties."),
  amount_microcents: Field.optional(
    MicrocentsFromInt,
    "For `resolved_credit`: amount of the credit in microcents, at most the cost of the call. Default: the cost of the call."
  )
}).annotate({ examples: [{ resolution: "resolved_denied", note: "The answer is what was asked for" }] })

export const disputeId = Field.of(DisputeId, "ID of the dispute.", DISPUTE_ID)
const status = Field.of(DisputeStatus, "Status of the dispute.")
const reason = Field.of(DisputeReason, "Reason of the dispute.", "quality")
const filedByType = Field.of(Party, "Party that filed the dispute.")
const respondBy = Field.timestamp("Deadline for the provider's answer.", "2026-11-27T09:30:00.000Z")

const DisputeFiled = Field.object("DisputeFiled", "The filed dispute.", {
  dispute_id: disputeId,
  receipt_id: shared.receiptId,
  status,
  reason,
  filed_by: Field.string("ID of the account that filed the dispute.", CONSUMER_ID),
  filed_by_type: filedByType,
  created_at: shared.createdAt,
  respond_by: respondBy,
  message: Field.string(
    "Next step in one sentence.",
    "The provider has 7 days to answer. Without an answer, the dispute is decided for you."
  ),
  dispute_url: Field.string("URL of the dispute.", `${BASE_URL}/api/v1/market/disputes/${DISPUTE_ID}`)
})

const PublicDispute = Field.object("PublicDispute", "Status of a dispute, without its content.", {
  dispute_id: disputeId,
  status,
  reason,
  filed_by_type: filedByType,
  created_at: shared.createdAt,
  respond_by: respondBy,
  decide_by: Field.nullableTimestamp(
    "Deadline for the operator's decision, then the dispute is decided for the filer. `null`: not contested."
  ),
  resolved_at: Field.nullableTimestamp("Time of the decision. `null`: the dispute is open."),
  decided_by: Field.nullable(
    DecidedBy,
    "What decided the dispute: the receipt or invalid output (`evidence`), the provider, its missed deadline (`deadline`), " +
      "the operator, its missed deadline (`operator_deadline`), or a chargeback. `null`: the dispute is open."
  )
})

const statement = (text: string) => ({
  text: Field.nullableString("Text of the statement.", text),
  evidence: Field.nullable(Schema.Record(Schema.String, Schema.Json), "Evidence. `null`: none.", {
    expected: "paper A",
    got: "paper B"
  })
})

const CLAIM = "Statement of the party that filed the dispute."
const ANSWER = "Answer of the provider."

export const Dispute = Field.object("Dispute", "A dispute, as its parties see it.", {
  ...PublicDispute.fields,
  receipt_id: shared.receiptId,
  agent_id: shared.agentId,
  provider_id: shared.providerId,
  cost_microcents: shared.costMicrocents,
  paid_microcents: Field.of(MicrocentsFromInt, "Same as `refunded_microcents`.", 0),
  refunded_microcents: Field.microcents("Amount refunded to the consumer", 0),
  outstanding_microcents: Field.microcents("Amount owed to the consumer (the provider's next earnings pay it)", 0),
  frozen_microcents: Field.microcents("Earnings of the call (frozen until the decision)", 1_800),
  claim: Field.of(
    Field.object("DisputeClaim", CLAIM, {
      ...statement("The answer was about another paper"),
      reference: Field.nullableString("Own reference of the party that filed the dispute.", "SUP-1042")
    }),
    CLAIM
  ),
  answer: Field.nullable(
    Field.object("DisputeAnswer", ANSWER, {
      ...statement("The query named that paper"),
      at: Field.timestamp("Time of the answer.")
    }),
    `${ANSWER} \`null\`: none.`
  ),
  note: Field.nullableString("Explanation of the decision.")
})

const RECORD = "Record of the party that filed the dispute."

export const WholeDispute = Field.object("WholeDispute", "A dispute as its parties see it, with the filer's record.", {
  ...Dispute.fields,
  details: Field.of(
    Field.object("FilerRecord", RECORD, {
      filed_in_all: Field.int("Number of filed disputes.", 3),
      open: Field.int("Number of open disputes.", 1),
      upheld: Field.int("Number of disputes that ended in a refund.", 1),
      denied: Field.int("Number of denied disputes.", 1),
      credited: Field.int("Number of disputes that the platform credited.", 0),
      filed_last_day: Field.int("Number of disputes filed in the last 24 hours.", 1)
    }),
    RECORD
  )
})

const SeenDispute = Schema.Union([WholeDispute, PublicDispute]).annotate({
  identifier: "SeenDispute",
  description: "The dispute for its parties, its status for other clients."
})

const DisputePage = shared.pageOf(
  "DisputePage",
  "A page of disputes.",
  "disputes",
  Field.list(Dispute, "Disputes of this page, newest first.")
)

const params = { id: disputeId }

export class DisputesApi extends HttpApiGroup.make("disputes")
  .add(
    Endpoint.post("file", "/api/v1/market/disputes", {
      access: writeBy("consumer", "provider"),
      summary: "File a dispute",
      description:
        "A party to the receipt can dispute the call within 30 days. The provider has 7 days to answer; without an answer, " +
        "the dispute is decided for the filer. A billed call is refunded immediately if its receipt says `error` or " +
        "`timeout`, or if its output does not match the tool's `output_schema`. A dispute filed by the provider on " +
        "its own receipt refunds the consumer.",
      payload: FileDispute,
      success: DisputeFiled.pipe(HttpApiSchema.status(201)),
      problems: [404, "DUPLICATE", "RECOVERED_BY_CHARGEBACK"]
    }),
    Endpoint.get("list", "/api/v1/market/disputes", {
      access: readBy("consumer", "provider", "operator"),
      summary: "List your disputes",
      description:
        "Returns disputes filed by you or against you, newest first. With an operator key: all disputes; those with " +
        "`status=under_review` wait for the operator's decision.",
      query: { ...pageQuery, status: Field.optional(DisputeStatus, "Status of the disputes.") },
      success: DisputePage
    }),
    Endpoint.get("find", "/api/v1/market/disputes/:id", {
      access: uncachedWithKey,
      summary: "Retrieve a dispute",
      description:
        "Without a key: the status, without parties and statements. With the key of a party: the whole dispute.",
      params,
      success: SeenDispute
    }),
    Endpoint.post("respond", "/api/v1/market/disputes/:id/respond", {
      access: writeBy("provider"),
      summary: "Answer a dispute",
      description:
        "Once, until `respond_by`. `accept` refunds the consumer immediately. `contest` leaves the decision to the operator, " +
        "who has 30 days (`decide_by`); without a decision, the dispute is decided for the filer.",
      params,
      payload: AnswerDispute,
      success: Dispute,
      problems: ["DUPLICATE"]
    }),
    Endpoint.post("resolve", "/api/v1/market/disputes/:id/resolve", {
      access: operatorAction("dispute.decide"),
      summary: "Decide a dispute",
      description:
        "`resolved_refund` refunds the cost: the provider's share from its available earnings, the fee from the platform. " +
        "`resolved_credit` pays up to the cost from platform funds. A contested dispute can be decided until `decide_by`; " +
        "then it is refunded. A decision is final.",
      params,
      payload: ResolveDispute,
      success: Dispute,
      problems: ["DUPLICATE", "INSUFFICIENT_PLATFORM_FUNDS"]
    })
  )
  .annotateMerge(Endpoint.about("Disputes", "Disputes about calls, and their decisions.")) {}
