/**
 * Accounts and chargebacks as the operator sees them.
 */
import { Schema } from "effect"
import { COUNTED_MAX } from "../../../domain/shared/Page.ts"
import * as Field from "../contract/Field.ts"
import { feeChanges, feeFields } from "../contract/PlatformFeeBodies.ts"
import * as shared from "../contract/SharedFields.ts"

/** A long list is not counted to its end. */
export const listOf = <const K extends string, S extends Schema.Top>(
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

export const Consumers = listOf(
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

export const Chargeback = Field.object("Chargeback", "A payment that the payer disputes at the bank.", chargebackFields)

export const WholeConsumer = Field.object("OperatorConsumerDetails", "A consumer with its money and its record.", {
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

export const Providers = listOf(
  "OperatorProviders",
  "A page of providers.",
  "providers",
  Field.list(Field.object("OperatorProvider", "A provider.", providerFields), "Providers of this page.")
)

export const WholeProvider = Field.object("OperatorProviderDetails", "A provider with its money.", {
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
