/**
 * Disputes about calls: filed by a party, answered by the provider, decided on evidence or by the operator.
 */
import { HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { DisputeStatus } from "../../../domain/trust/Dispute.ts"
import { readBy, uncachedWithKey, writeBy } from "./Access.ts"
import * as Endpoint from "./Endpoint.ts"
import {
  AnswerDispute,
  Dispute,
  DisputeFiled,
  disputeId,
  FileDispute,
  ResolveDispute,
  SeenDispute
} from "./DisputeBodies.ts"
import * as Field from "./Field.ts"
import { pageQuery } from "./InputSchemas.ts"
import { pageOf } from "./SharedFields.ts"

const DisputePage = pageOf(
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
      problems: [404]
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
      success: Dispute
    }),
    Endpoint.post("resolve", "/api/v1/market/disputes/:id/resolve", {
      access: writeBy("operator"),
      summary: "Decide a dispute",
      description:
        "`resolved_refund` refunds the cost: the provider's share from its available earnings, the fee from the platform. " +
        "`resolved_credit` pays up to the cost from platform funds. A contested dispute can be decided until `decide_by`; " +
        "then it is refunded. A decision is final.",
      params,
      payload: ResolveDispute,
      success: Dispute
    })
  )
  .annotateMerge(
    OpenApi.annotations({ title: "Disputes", description: "Disputes about calls, and their decisions." })
  ) {}
