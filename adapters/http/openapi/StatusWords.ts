/**
 * Words of the record of health checks.
 */
import type { Json } from "./OpenApiModel.ts"
import type { Words } from "./Vocabulary.ts"

const DAY: Json = { date: "2026-11-20", samples: 1_440, ok: 1_438, degraded: 1, down: 1, good_pct: 99.861 }

export const statusWords: Words = {
  "status.history.days": ["How many days, today among them.", 90],
  "StatusHistory.": ["What every check has seen, day by day."],
  "StatusHistory.days": ["How many days are told of, today among them.", 1],
  "StatusHistory.from": ["The first day, in UTC.", "2026-11-20"],
  "StatusHistory.to": ["The last day, in UTC: today.", "2026-11-20"],
  "StatusHistory.checks": [
    "Every check; the first, `service`, is the service as a whole.",
    [{ name: "service", samples: 1_440, ok: 1_438, degraded: 1, down: 1, good_pct: 99.861, by_day: [DAY] }]
  ],
  "CheckHistory.": ["A check, over all the days and by day."],
  "CheckHistory.name": ["The check, as `GET /api/v1/health` names it; `service` is the whole.", "service"],
  "CheckHistory.by_day": ["Every day of the period, the oldest first.", [DAY]],
  "HealthDay.": ["A day of a check."],
  samples: ["How often it was looked at, by all nodes together; 0: there is no record.", 1_440],
  ok: ["How often it was well.", 1_438],
  degraded: ["How often it was slow, or something was wrong with it, and the service went on.", 1],
  down: ["How often it did not work.", 1],
  good_pct: ["The share of `ok` in percent, cut to three decimals; null where there is no record.", 99.861]
}
