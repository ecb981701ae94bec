/**
 * The health of a node as the API shows it.
 */
import { APPLY_MIGRATIONS, type HealthReport } from "../../../domain/platform/Health.ts"
import { format } from "../../../domain/shared/Time.ts"
import { API_VERSION, API_VERSION_OF } from "../contract/Versions.ts"

const INIT = "POST /api/v1/init applies the pending migrations."

export const healthView = ({ at, checks, status, uptimeSeconds }: HealthReport) => ({
  status,
  version: API_VERSION,
  version_of: API_VERSION_OF,
  uptime_s: uptimeSeconds,
  timestamp: format(at),
  checks: Object.fromEntries(
    checks.map((one) => [
      one.name,
      {
        status: one.status,
        latency_ms: one.latencyMs,
        ...(one.message === undefined ? {} : { message: one.message.replace(APPLY_MIGRATIONS, INIT) })
      }
    ])
  )
})
