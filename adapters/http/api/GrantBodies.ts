/**
 * Grants on the wire: a consumer permits a provider to bill it for calls outside the proxy.
 */
import { Schema } from "effect"
import { GRANT_TOOLS_MAX } from "../../../domain/metering/Grants.ts"
import { GrantId, ToolId } from "../../../domain/shared/Ids.ts"
import * as Field from "./Field.ts"
import { Instant } from "./InputSchemas.ts"
import { GRANT_ID, NOW, PROVIDER_ID } from "./SampleValues.ts"
import * as shared from "./SharedFields.ts"

const Period = Schema.Literals(["day", "month", "total"])
const capMicrocents = Field.microcents("Limit of what the provider can bill per period", 1_000_000)

export const grantId = Field.of(GrantId, "ID of the grant.", GRANT_ID)

export const GiveGrant = Field.object("GiveGrant", "The provider, its tools, and the limit.", {
  provider_id: shared.providerId,
  tool_ids: Field.optional(
    Schema.Array(ToolId).check(Schema.isMaxLength(GRANT_TOOLS_MAX)),
    "IDs of the tools. Default: all tools of the provider."
  ),
  cap_microcents: capMicrocents,
  period: Field.optional(Period, "Period after which the limit resets; `total`: never. Default: `month`."),
  expires_at: Field.optional(Instant, "Time of expiry in ISO 8601. Default: never.")
})

const Grant = Field.object("Grant", "Permission for a provider to bill you for calls outside the proxy.", {
  grant_id: grantId,
  provider_id: shared.providerId,
  tool_ids: Field.list(ToolId, "IDs of the tools. Empty: all tools of the provider.", []),
  cap_microcents: capMicrocents,
  spent_microcents: Field.microcents("Amount billed in this period", 12_500),
  period: Field.of(Period, "Period after which the limit resets; `total`: never.", "month"),
  status: Field.of(Schema.Literals(["active", "expired", "revoked"]), "Status of the grant."),
  created_at: shared.createdAt,
  expires_at: shared.expiresAt,
  revoked_at: Field.nullableTimestamp("Time of revocation. `null`: not revoked.")
})

export const GrantList = Field.object("Grants", "Your grants, including revoked and expired ones.", {
  grants: Field.list(Grant, "Grants, newest first."),
  total: Field.int("Number of grants in the list.", 1)
})

export const OneGrant = Field.object("OneGrant", "The new grant.", { grant: Field.of(Grant, "The grant.") })

export const RevokedGrant = Field.object("RevokedGrant", "The grant is revoked.", {
  revoked: Field.always(true),
  grant: Field.of(Grant, "The revoked grant.", {
    grant_id: GRANT_ID,
    provider_id: PROVIDER_ID,
    tool_ids: [],
    cap_microcents: 1_000_000,
    spent_microcents: 12_500,
    period: "month",
    status: "revoked",
    created_at: NOW,
    expires_at: null,
    revoked_at: "2026-11-20T10:30:00.000Z"
  })
})
