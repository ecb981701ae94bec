/**
 * Disputes about calls: filed by a party, answered by the provider, decided on evidence or by the operator.
 */
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { DisputeStatus } from "../../../domain/trust/Dispute.ts"
import { about, KeyAuth, readBy, uncachedWithKey, writeBy } from "./Access.ts"
import { AnswerDispute, Dispute, DisputeFiled, disputeId, FileDispute, ResolveDispute, SeenDispute } from "./Dispute.ts"
import * as Field from "./Field.ts"
import { idempotencyHeader, pageQuery } from "./InputSchemas.ts"
import { problems } from "./ProblemSchemas.ts"
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
    HttpApiEndpoint.post("file", "/api/v1/market/disputes", {
      headers: idempotencyHeader,
      payload: FileDispute,
      success: DisputeFiled.pipe(HttpApiSchema.status(201)),
      error: problems(400, 401, 403, 404, 409, 413, 415, 422)
    })
      .middleware(KeyAuth)
      .annotateMerge(
        about(
          writeBy("consumer", "provider"),
          "File a dispute",
          "A party to the receipt can dispute the call within 30 days. The provider has 7 days to answer; without an answer, " +
            "the dispute is decided for the filer. A billed call is refunded immediately if its receipt says `error` or " +
            "`timeout`, or if its output is invalid against the tool's `output_schema`. A dispute filed by the provider on " +
            "its own receipt refunds the consumer."
        )
      ),
    HttpApiEndpoint.get("list", "/api/v1/market/disputes", {
      query: { ...pageQuery, status: Field.optional(DisputeStatus, "Status of the disputes.") },
      success: DisputePage,
      error: problems(400, 401, 403)
    })
      .middleware(KeyAuth)
      .annotateMerge(
        about(
          readBy("consumer", "provider", "operator"),
          "List your disputes",
          "Returns disputes filed by you or against you, newest first. With an operator key: all disputes; those with " +
            "`status=under_review` wait for the operator's decision."
        )
      ),
    HttpApiEndpoint.get("find", "/api/v1/market/disputes/:id", {
      params,
      success: SeenDispute,
      error: problems(401, 404)
    }).annotateMerge(
      about(
        uncachedWithKey,
        "Retrieve a dispute",
        "Without a key: the status, without parties and statements. With the key of a party: the whole dispute."
      )
    ),
    HttpApiEndpoint.post("respond", "/api/v1/market/disputes/:id/respond", {
      params,
      headers: idempotencyHeader,
      payload: AnswerDispute,
      success: Dispute,
      error: problems(400, 401, 403, 404, 409, 413, 415, 422)
    })
      .middleware(KeyAuth)
      .annotateMerge(
        about(
          writeBy("provider"),
          "Answer a dispute",
          "Once, until `respond_by`. `accept` refunds the consumer immediately. `contest` leaves the decision to the operator, " +
            "who has 30 days (`decide_by`); without a decision, the dispute is decided for the filer."
        )
      ),
    HttpApiEndpoint.post("resolve", "/api/v1/market/disputes/:id/resolve", {
      params,
      headers: idempotencyHeader,
      payload: ResolveDispute,
      success: Dispute,
      error: problems(400, 401, 403, 404, 409, 413, 415, 422)
    })
      .middleware(KeyAuth)
      .annotateMerge(
        about(
          writeBy("operator"),
          "Decide a dispute",
          "`resolved_refund` refunds the cost: the provider's share from its available earnings, the fee from the platform. " +
            "`resolved_credit` pays up to the cost from platform funds. A contested dispute can be decided until `decide_by`; " +
            "then it is refunded. A decision is final."
        )
      )
  )
  .annotateMerge(
    OpenApi.annotations({ title: "Disputes", description: "Disputes about calls, and their decisions." })
  ) {}
