/**
 * Disputes about calls: filed by a party, answered by the provider, decided on evidence or by the operator.
 */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { DecidedBy, DisputeId, DisputeReason, DisputeStatus, Party, Resolution } from "../../../domain/trust/Dispute.ts"
import { ConsumerId, ProviderId, ReceiptId } from "../../../domain/shared/Ids.ts"
import { MicrocentsFromInt } from "../../../domain/shared/Microcents.ts"
import { Timestamp } from "../../../domain/shared/Timestamp.ts"
import { Access, KeyAuth, readBy, uncachedWithKey, writeBy } from "./Access.ts"
import { Name, pageQuery, Text } from "./Fields.ts"
import { idempotencyHeader } from "./IdempotencyHeader.ts"
import { problems } from "./Problem.ts"

const TEXT_CHARS_MAX = 4_000
const EVIDENCE_CHARS_MAX = 16_384

/** Any JSON object, of bounded size. */
const Evidence = Schema.Record(Schema.String, Schema.Json).check(
  Schema.makeFilter((evidence) =>
    JSON.stringify(evidence).length <= EVIDENCE_CHARS_MAX
      ? undefined
      : `must have at most ${EVIDENCE_CHARS_MAX} characters of JSON`
  )
)

export const FileDispute = Schema.Struct({
  receipt_id: ReceiptId,
  reason: DisputeReason,
  description: Schema.optionalKey(Text(TEXT_CHARS_MAX)),
  evidence: Schema.optionalKey(Evidence)
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
        receipt_id: "rcpt_5f0c1d9b7a3e4c2880d6b1f2a4e39c75" as never,
        reason: "quality",
        description: "The answer was about another paper"
      }
    ]
  })

export const AnswerDispute = Schema.Struct({
  action: Schema.Literals(["accept", "contest"]),
  message: Schema.optionalKey(Text(TEXT_CHARS_MAX)),
  evidence: Schema.optionalKey(Evidence)
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

export const ResolveDispute = Schema.Struct({
  resolution: Resolution,
  note: Schema.optionalKey(Name(TEXT_CHARS_MAX)),
  amount_microcents: Schema.optionalKey(MicrocentsFromInt)
}).annotate({
  identifier: "ResolveDispute",
  examples: [{ resolution: "resolved_denied", note: "The answer is what was asked for" }]
})

const Filed = Schema.Struct({
  dispute_id: DisputeId,
  receipt_id: ReceiptId,
  status: DisputeStatus,
  reason: DisputeReason,
  filed_by: Schema.String,
  filed_by_type: Party,
  created_at: Timestamp,
  respond_by: Timestamp,
  message: Schema.String,
  dispute_url: Schema.String
}).annotate({ identifier: "DisputeFiled" })

const PublicDispute = Schema.Struct({
  dispute_id: DisputeId,
  status: DisputeStatus,
  reason: DisputeReason,
  filed_by_type: Party,
  created_at: Timestamp,
  respond_by: Timestamp,
  decide_by: Schema.NullOr(Timestamp),
  resolved_at: Schema.NullOr(Timestamp),
  decided_by: Schema.NullOr(DecidedBy)
}).annotate({ identifier: "PublicDispute" })

const Statement = {
  text: Schema.NullOr(Schema.String),
  evidence: Schema.NullOr(Schema.Record(Schema.String, Schema.Json))
}

const Dispute = Schema.Struct({
  ...PublicDispute.fields,
  receipt_id: ReceiptId,
  agent_id: ConsumerId,
  provider_id: ProviderId,
  cost_microcents: MicrocentsFromInt,
  paid_microcents: MicrocentsFromInt,
  refunded_microcents: MicrocentsFromInt,
  outstanding_microcents: MicrocentsFromInt,
  frozen_microcents: MicrocentsFromInt,
  claim: Schema.Struct(Statement).annotate({ identifier: "DisputeClaim" }),
  answer: Schema.NullOr(Schema.Struct({ ...Statement, at: Timestamp }).annotate({ identifier: "DisputeAnswer" })),
  note: Schema.NullOr(Schema.String)
}).annotate({ identifier: "Dispute" })

const WholeDispute = Schema.Struct({
  ...Dispute.fields,
  details: Schema.Struct({
    filed_in_all: Schema.Int,
    open: Schema.Int,
    upheld: Schema.Int,
    denied: Schema.Int,
    credited: Schema.Int,
    filed_last_day: Schema.Int
  }).annotate({ identifier: "FilerRecord" })
}).annotate({ identifier: "WholeDispute" })

const id = { id: DisputeId }

export class DisputesApi extends HttpApiGroup.make("disputes")
  .add(
    HttpApiEndpoint.post("file", "/api/v1/market/disputes", {
      headers: idempotencyHeader,
      payload: FileDispute,
      success: Filed.pipe(HttpApiSchema.status(201)),
      error: problems(400, 401, 403, 404, 409, 413, 415, 422)
    })
      .annotate(Access, writeBy("consumer", "provider"))
      .middleware(KeyAuth)
      .annotateMerge(
        OpenApi.annotations({
          summary: "Dispute a call",
          description:
            "By a party to the receipt, within 30 days. The provider has seven days to answer; its silence decides for " +
            "you, and so does, of a call that was billed, a receipt that says `error` or `timeout` or an output that did not " +
            "fit the tool's `output_schema`. A provider that files on its own receipt gives the money back."
        })
      ),
    HttpApiEndpoint.get("list", "/api/v1/market/disputes", {
      query: { ...pageQuery, status: Schema.optionalKey(DisputeStatus) },
      success: Schema.Struct({
        disputes: Schema.Array(Dispute),
        total: Schema.Int,
        limit: Schema.Int,
        offset: Schema.Int,
        next_cursor: Schema.NullOr(Schema.String)
      }).annotate({ identifier: "DisputePage" }),
      error: problems(400, 401, 403)
    })
      .annotate(Access, readBy("consumer", "provider", "operator"))
      .middleware(KeyAuth)
      .annotateMerge(
        OpenApi.annotations({
          summary: "List your disputes",
          description:
            "Filed by you or against you, newest first. The operator sees everybody's: `status=under_review` are those " +
            "that wait for its decision."
        })
      ),
    HttpApiEndpoint.get("find", "/api/v1/market/disputes/:id", {
      params: id,
      success: Schema.Union([WholeDispute, PublicDispute]).annotate({ identifier: "SeenDispute" }),
      error: problems(401, 404)
    })
      .annotate(Access, uncachedWithKey)
      .annotateMerge(
        OpenApi.annotations({
          summary: "Read a dispute",
          description:
            "Anybody sees how it stands, without a word of what was said and without the parties' names. The parties, with " +
            "their key, see the whole."
        })
      ),
    HttpApiEndpoint.post("respond", "/api/v1/market/disputes/:id/respond", {
      params: id,
      headers: idempotencyHeader,
      payload: AnswerDispute,
      success: Dispute,
      error: problems(400, 401, 403, 404, 409, 413, 415, 422)
    })
      .annotate(Access, writeBy("provider"))
      .middleware(KeyAuth)
      .annotateMerge(
        OpenApi.annotations({
          summary: "Answer a dispute",
          description:
            "By the provider, once, until `respond_by`. `accept` gives the money back at once; `contest` leaves the decision " +
            "to the operator, who has 30 days (`decide_by`): what is not decided by then is decided for the filer."
        })
      ),
    HttpApiEndpoint.post("resolve", "/api/v1/market/disputes/:id/resolve", {
      params: id,
      headers: idempotencyHeader,
      payload: ResolveDispute,
      success: Dispute,
      error: problems(400, 401, 403, 404, 409, 413, 415, 422)
    })
      .annotate(Access, writeBy("operator"))
      .middleware(KeyAuth)
      .annotateMerge(
        OpenApi.annotations({
          summary: "Decide a dispute",
          description:
            "For the operator. `resolved_refund` takes the cost from the provider as far as it is there, and the fee from " +
            "the platform; `resolved_credit` pays up to the cost from the platform's own money. A contested dispute can be " +
            "decided until `decide_by`; after that it is refunded, and the decision stands."
        })
      )
  )
  .annotateMerge(
    OpenApi.annotations({ title: "Disputes", description: "What to do when a call was not worth its price." })
  ) {}
