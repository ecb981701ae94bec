/**
 * The record of health checks; the page /status shows the same.
 */
import { HttpApiGroup } from "effect/http-api"
import { HISTORY_DAYS, HISTORY_DAYS_KEPT } from "../../../domain/platform/HealthHistory.ts"
import { publicRead } from "../contract/Access.ts"
import * as Endpoint from "../contract/Endpoint.ts"
import * as Field from "../contract/Field.ts"
import { WholeNumber } from "../contract/InputSchemas.ts"
import { TODAY } from "../contract/SampleValues.ts"
import { answeredAt, date } from "../contract/SharedFields.ts"

const outcomes = {
  samples: Field.int("Number of checks by all nodes. `0`: no record.", 1_440),
  ok: Field.int("Number of checks with status `ok`.", 1_438),
  degraded: Field.int("Number of checks with status `degraded`.", 1),
  down: Field.int("Number of checks with status `down`.", 1),
  good_pct: Field.nullableNumber("Share of `ok` in percent, truncated to three decimals. `null`: no record.", 99.861)
}

const HealthDay = Field.object("HealthDay", "One day of a check.", { date, ...outcomes })

const CheckHistory = Field.object("CheckHistory", "Record of a check, in total and by day.", {
  name: Field.string("Name of the check in `GET /api/v1/health`; `service` is the whole service.", "service"),
  ...outcomes,
  by_day: Field.list(HealthDay, "Days of the period, oldest first.")
})

const StatusHistory = Field.object("StatusHistory", "Record of every check by day.", {
  days: Field.int("Number of days, including today.", 1),
  from: Field.string("First day (UTC).", TODAY),
  to: Field.string("Last day (UTC): today.", TODAY),
  checks: Field.list(CheckHistory, "Checks. The first, `service`, is the whole service."),
  timestamp: answeredAt
})

export class StatusApi extends HttpApiGroup.make("status")
  .add(
    Endpoint.get("history", "/api/v1/status/history", {
      access: publicRead,
      summary: "Retrieve the status history",
      description:
        `The service checks itself every minute. Returns the totals by day (UTC), of ${HISTORY_DAYS} days by default. A day ` +
        "with 0 `samples` has no record.",
      query: {
        days: Field.optional(
          WholeNumber(1, HISTORY_DAYS_KEPT),
          `Number of days, including today. Default: ${HISTORY_DAYS}.`
        )
      },
      success: StatusHistory
    })
  )
  .annotateMerge(Endpoint.about("Status", "Record of health checks.")) {}
