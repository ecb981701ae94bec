/**
 * The operator's lists: accounts, contested disputes, payouts, claims, chargebacks and jobs.
 */
import { Schema } from "effect"
import { HttpApiGroup } from "effect/http-api"
import { ClaimId } from "../../../domain/earnings/Claims.ts"
import { PayoutState } from "../../../domain/earnings/PayoutStore.ts"
import { ConsumerId, PayoutId, ProviderId } from "../../../domain/shared/Ids.ts"
import { COUNTED_MAX } from "../../../domain/shared/Page.ts"
import { DisputeStatus } from "../../../domain/trust/DisputeStore.ts"
import * as Endpoint from "../contract/Endpoint.ts"
import { readBy } from "../contract/Endpoint.ts"
import * as Field from "../contract/Field.ts"
import { pageQuery } from "../contract/InputSchemas.ts"
import { CONSUMER_ID, KEY_ID, PROVIDER_ID } from "../contract/SampleValues.ts"
import * as shared from "../contract/SharedFields.ts"
import { feeChanges, feeFields } from "../contract/SharedFields.ts"
import { Dispute, disputeId, WholeDispute } from "../trust/DisputesApi.ts"

// Accounts and chargebacks as the operator sees them.

/** A long list is not counted to its end. */
const listOf = <const K extends string, S extends Schema.Top>(
  identifier: string,
  description: string,
  key: K,
  items: Schema.$Array<S>
) =>
  Field.object(identifier, description, {
    ...({ [key]: items } as Record<K, Schema.$Array<S>>),
    ...shared.pageFields,
    total: Field.int(`Number of items in the filtered list, counted up to ${COUNTED_MAX}.`, 1)
  })

const consumerFields = {
  consumer_id: shared.consumerId,
  name: Field.string("Name of the account.", "Research agent"),
  email: Field.string("Email address of the account.", "ada@example.org"),
  created_at: shared.createdAt,
  frozen: shared.frozen,
  frozen_reason: shared.frozenReason,
  frozen_at: shared.frozenAt,
  frozen_by_operator: Field.boolean("Whether the operator froze the account.", false)
}

const Consumers = listOf(
  "OperatorConsumers",
  "A page of consumers.",
  "consumers",
  Field.list(Field.object("OperatorConsumer", "A consumer.", consumerFields), "Consumers of this page.")
)

const chargebackFields = {
  chargeback_id: Field.string("ID of the chargeback at the payment processor.", "dp_1PgafTB1a2"),
  consumer_id: shared.consumerId,
  consumer_name: shared.consumerName,
  amount_cents: Field.int("Amount in cents.", 5_000),
  state: Field.of(Schema.Literals(["open", "won", "lost"]), "Decision of the bank.", "open"),
  funds: Field.of(
    Schema.Literals(["none", "withdrawn", "reinstated"]),
    "Whether the processor took the money, or returned it.",
    "withdrawn"
  ),
  released: Field.boolean("Whether the operator unfroze the account in spite of it.", false),
  opened_at: Field.timestamp("Time of the chargeback."),
  updated_at: Field.timestamp("Time of its last change.")
}

const Chargeback = Field.object("Chargeback", "A payment that the payer disputes at the bank.", chargebackFields)

const WholeConsumer = Field.object("OperatorConsumerDetails", "A consumer with its money and its record.", {
  ...consumerFields,
  use_case: Field.string("What the account is for, in its own words.", "Answers questions about papers."),
  rate_limit_rpm: shared.rateLimitRpm,
  available_microcents: Field.signedMicrocents("Available balance", 12_500_000),
  held_microcents: Field.signedMicrocents("Reserved for calls in flight", 0),
  owed_microcents: Field.signedMicrocents("Debt of the account after a chargeback or a refund", 0),
  disputes_filed: Field.int("Number of disputes that it filed.", 1),
  disputes_denied: Field.int("Number of them that were denied.", 0),
  chargebacks: Field.list(Chargeback, "Chargebacks of its payments, oldest first.")
})

const providerFields = {
  provider_id: shared.providerId,
  handle: shared.handle,
  name: shared.providerName,
  email: Field.string("Email address of the account.", "ada@example.org"),
  endpoint_url: Field.string("URL of its MCP server.", "https://mcp.example.org/mcp"),
  created_at: shared.createdAt,
  frozen: shared.frozen,
  frozen_reason: shared.frozenReason,
  frozen_at: shared.frozenAt
}

const Providers = listOf(
  "OperatorProviders",
  "A page of providers.",
  "providers",
  Field.list(Field.object("OperatorProvider", "A provider.", providerFields), "Providers of this page.")
)

const WholeProvider = Field.object("OperatorProviderDetails", "A provider with its money.", {
  ...providerFields,
  ...feeFields,
  ...feeChanges,
  description: Field.string("Description of the provider.", "Search over public papers."),
  maturing_microcents: Field.signedMicrocents("Earnings that are not mature yet", 0),
  reserved_microcents: Field.signedMicrocents("Rolling reserve", 0),
  available_microcents: Field.signedMicrocents("Earnings that can be paid out", 12_500_000),
  frozen_microcents: Field.signedMicrocents("Earnings frozen by open disputes", 0),
  owed_microcents: Field.signedMicrocents("Debt to consumers for refunds", 0),
  reserve_lifted: Field.boolean("Whether the rolling reserve is lifted.", false),
  payout_account: Field.nullableString("ID of its account at the payment processor. `null`: none yet.", "acct_1PgafT"),
  automatic_payouts: Field.boolean("Whether payouts are made each month.", false)
})

const SEARCH_CHARS_MAX = 254

const operator = readBy("operator")

const search = Field.optional(
  Schema.String.check(Schema.isMinLength(2), Schema.isMaxLength(SEARCH_CHARS_MAX)),
  "ID, or the beginning of a name, an email address or a handle, without regard to case."
)

const Payouts = listOf(
  "OperatorPayouts",
  "A page of payouts.",
  "payouts",
  Field.list(
    Field.object("OperatorPayout", "A payout of a provider.", {
      payout_id: Field.of(PayoutId, "ID of the payout.", KEY_ID),
      provider_id: Field.of(ProviderId, "ID of the provider.", PROVIDER_ID),
      provider_name: shared.providerName,
      amount_cents: Field.int("Amount in cents.", 12_500),
      state: Field.of(PayoutState, "How far the payout is.", "paid"),
      transfer_id: Field.nullableString("ID of the transfer at the payment processor. `null`: none.", "tr_1PgafT"),
      failure: Field.nullableString("Why the payout failed. `null`: it did not."),
      reversed_cents: Field.int("Reversed amount in cents.", 0),
      attempts: Field.int("Number of attempts.", 1),
      next_attempt_at: Field.nullableTimestamp("Time of the next attempt. `null`: the payout has ended."),
      created_at: shared.createdAt,
      paid_at: Field.nullableTimestamp("Time of payment. `null`: not paid.")
    }),
    "Payouts of this page, newest first."
  )
)

const parties = { consumer_name: shared.consumerName, provider_name: shared.providerName }

const Disputes = shared.pageOf(
  "OperatorDisputes",
  "A page of disputes with the names of their parties.",
  "disputes",
  Field.list(
    Field.object("OperatorDispute", "A dispute as the operator sees it.", { ...Dispute.fields, ...parties }),
    "Disputes of this page."
  )
)

const DisputeForDecision = Field.object(
  "OperatorDisputeDetails",
  "A dispute as the operator sees it, with the filer's record.",
  { ...WholeDispute.fields, ...parties }
)

const Claims = listOf(
  "OperatorClaims",
  "A page of claims.",
  "claims",
  Field.list(
    Field.object("OperatorClaim", "The part of a refund that could not be paid at the decision.", {
      claim_id: Field.of(ClaimId, "ID of the claim.", KEY_ID),
      dispute_id: Field.string("ID of the dispute that was refunded.", KEY_ID),
      debtor_id: Field.nullable(ProviderId, "ID of the provider that owes it. `null`: the platform.", PROVIDER_ID),
      debtor_name: Field.nullableString("Name of that provider. `null`: the platform.", "Paper tools"),
      creditor_id: Field.nullable(
        ConsumerId,
        "ID of the consumer that it is owed to. `null`: the platform, which advanced it.",
        CONSUMER_ID
      ),
      creditor_name: Field.nullableString("Name of that consumer. `null`: the platform.", "Research agent"),
      amount_microcents: Field.microcents("Amount", 5_000_000),
      paid_microcents: Field.microcents("Paid so far", 1_000_000),
      created_at: shared.createdAt
    }),
    "Claims of this page, newest first."
  )
)

const Chargebacks = listOf(
  "OperatorChargebacks",
  "A page of chargebacks.",
  "chargebacks",
  Field.list(Chargeback, "Chargebacks of this page, newest first.")
)

const Jobs = Field.object("OperatorJobs", "The background jobs of one node.", {
  jobs: Field.list(
    Field.object("OperatorJob", "A background job of the node that answers.", {
      job: Field.string("Name of the job.", "solvency"),
      interval_seconds: Field.of(Schema.Finite, "Seconds between two runs.", 60),
      last_success_at: Field.nullableTimestamp("End of the last successful run. `null`: none since the node started."),
      duration_ms: Field.nullableNumber("Duration of that run in milliseconds. `null`: none yet.", 12.5),
      next_run_at: Field.timestamp("Time from which the next run is due."),
      late: Field.boolean("Whether the job has missed three runs.", false),
      failed_at: Field.nullableTimestamp("Time of the last failure. `null`: none since the node started."),
      failure: Field.nullableString("Reason for the last failure.", "The database does not respond")
    }),
    "Jobs, in the order in which they started."
  ),
  timestamp: shared.answeredAt
})

export class OperatorListsApi extends HttpApiGroup.make("operatorLists")
  .add(
    Endpoint.get("consumers", "/api/v1/operator/consumers", {
      access: operator,
      summary: "List consumers",
      description:
        "Newest first. `frozen=true` lists the frozen accounts, oldest account first, and takes no `search`.",
      query: {
        ...pageQuery,
        search,
        frozen: Field.optional(Schema.Literal("true"), "Only frozen accounts.")
      },
      success: Consumers
    }),
    Endpoint.get("consumer", "/api/v1/operator/consumers/:consumer_id", {
      access: operator,
      summary: "Retrieve a consumer",
      description: "Returns the account with its money, its disputes and its chargebacks.",
      params: { consumer_id: shared.consumerId },
      success: WholeConsumer
    }),
    Endpoint.get("providers", "/api/v1/operator/providers", {
      access: operator,
      summary: "List providers",
      description: "Newest first.",
      query: { ...pageQuery, search },
      success: Providers
    }),
    Endpoint.get("provider", "/api/v1/operator/providers/:provider_id", {
      access: operator,
      summary: "Retrieve a provider",
      description: "Returns the account with its money, its fee and its reserve.",
      params: { provider_id: shared.providerId },
      success: WholeProvider
    }),
    Endpoint.get("disputes", "/api/v1/operator/disputes", {
      access: operator,
      summary: "List disputes for a decision",
      description:
        "Without `status`: contested disputes, which wait for your decision, earliest deadline first. With `status`: all " +
        "disputes with it, newest first.",
      query: { ...pageQuery, status: Field.optional(DisputeStatus, "Status of the disputes.") },
      success: Disputes
    }),
    Endpoint.get("dispute", "/api/v1/operator/disputes/:id", {
      access: operator,
      summary: "Retrieve a dispute for a decision",
      description: "Returns the whole dispute with the record of its filer.",
      params: { id: disputeId },
      success: DisputeForDecision
    }),
    Endpoint.get("payouts", "/api/v1/operator/payouts", {
      access: operator,
      summary: "List payouts of all providers",
      description: "Newest first. An open payout is attempted again automatically until its outcome is known.",
      query: {
        ...pageQuery,
        state: Field.optional(PayoutState, "State of the payouts."),
        provider_id: Field.optional(ProviderId, "Only payouts of this provider.")
      },
      success: Payouts
    }),
    Endpoint.get("claims", "/api/v1/operator/claims", {
      access: operator,
      summary: "List claims",
      description:
        "Refunds that were decided when the debtor had too little money, newest first. They are paid from the debtor's next " +
        "earnings, oldest first.",
      query: {
        ...pageQuery,
        open: Field.optional(Schema.Literal("true"), "Only claims that are not paid completely.")
      },
      success: Claims
    }),
    Endpoint.get("chargebacks", "/api/v1/operator/chargebacks", {
      access: operator,
      summary: "List chargebacks",
      description: "Newest first.",
      query: pageQuery,
      success: Chargebacks
    }),
    Endpoint.get("jobs", "/api/v1/operator/jobs", {
      access: operator,
      summary: "List background jobs",
      description: "Every node runs every job. Returns those of the node that answers.",
      success: Jobs
    })
  )
  .annotateMerge(
    Endpoint.about("Operator lists", "Accounts, disputes, payouts, claims, chargebacks and jobs. Needs `OPERATOR_KEY`.")
  ) {}
