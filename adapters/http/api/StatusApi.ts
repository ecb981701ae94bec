/**
 * How the service has fared, for machines; the page /status shows the same to people.
 */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { HISTORY_DAYS, HISTORY_DAYS_KEPT } from "../../../domain/platform/HealthHistory.ts"
import { Timestamp } from "../../../domain/shared/Timestamp.ts"
import { Access, publicRead } from "./Access.ts"
import { WholeNumber } from "./Fields.ts"
import { problems } from "./Problem.ts"

const outcomes = {
  samples: Schema.Int,
  ok: Schema.Int,
  degraded: Schema.Int,
  down: Schema.Int,
  good_pct: Schema.NullOr(Schema.Finite)
}

const HealthDay = Schema.Struct({ date: Schema.String, ...outcomes }).annotate({ identifier: "HealthDay" })

const CheckHistory = Schema.Struct({
  name: Schema.String,
  ...outcomes,
  by_day: Schema.Array(HealthDay)
}).annotate({ identifier: "CheckHistory" })

const StatusHistory = Schema.Struct({
  days: Schema.Int,
  from: Schema.String,
  to: Schema.String,
  checks: Schema.Array(CheckHistory),
  timestamp: Timestamp
}).annotate({ identifier: "StatusHistory" })

export class StatusApi extends HttpApiGroup.make("status")
  .add(
    HttpApiEndpoint.get("history", "/api/v1/status/history", {
      query: { days: Schema.optionalKey(WholeNumber(1, HISTORY_DAYS_KEPT)) },
      success: StatusHistory,
      error: problems(400)
    })
      .annotate(Access, publicRead)
      .annotateMerge(
        OpenApi.annotations({
          summary: "How every part has fared, day by day",
          description:
            `The service checks itself every minute, and what it saw is summed up by days of UTC: of the last ${HISTORY_DAYS} ` +
            `days where nothing else is asked for. The first of \`checks\`, \`service\`, is the whole. A day with 0 \`samples\` ` +
            "has no record, which is not to say that it was good."
        })
      )
  )
  .annotateMerge(OpenApi.annotations({ title: "Status", description: "How the service has fared." })) {}
