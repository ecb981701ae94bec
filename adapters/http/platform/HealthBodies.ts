/**
 * The health of a node, part by part.
 */
import { Schema } from "effect"
import * as Field from "../contract/Field.ts"
import { Condition, identity } from "./PlatformIndex.ts"
import { answeredAt, versionOf } from "../contract/SharedFields.ts"

const Check = Schema.Struct({
  status: Field.of(Condition, "Status of the part."),
  latency_ms: Field.of(Schema.Finite, "Duration of the check in milliseconds."),
  message: Field.optional(Schema.String, "What is wrong.")
})

export const Health = Schema.Struct({
  status: Field.of(Condition, "`down`: an essential part fails. `degraded`: another part is slow or fails."),
  version: identity.version,
  version_of: versionOf,
  uptime_s: Field.int("Uptime of this process in seconds.", 86_400),
  timestamp: answeredAt,
  checks: Field.of(Schema.Record(Schema.String, Check), "Checks by name.", {
    database: { status: "ok", latency_ms: 0.8 },
    schema: { status: "ok", latency_ms: 1.2 },
    background: { status: "ok", latency_ms: 0.1 },
    rate_limits: { status: "ok", latency_ms: 0.1 }
  })
})
