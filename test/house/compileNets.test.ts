/**
 * What the compiler rejects of the service itself: each fault is planted in a copy of the sources.
 */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { compileEdited } from "../support/project/PlantedProject.ts"

/** The compiler checks the whole service, which took more than two minutes on a busy machine. */
const TIMEOUT_MS = 600_000

it.live(
  "The compiler rejects a gateway without selection, an endpoint without handler, and an MCP outcome without problem",
  () =>
    Effect.gen(function* () {
      const output = yield* compileEdited([
        ["src/config/Settings.ts", 'oneOf(["dry_run", "stripe"])', 'oneOf(["dry_run", "stripe", "paypal"])'],
        ["adapters/http/HttpService.ts", "    submissionsRoutes,\n", ""],
        ["domain/upstream/ToolUpstream.ts", '    | "blocked_endpoint"', '    | "planted"\n    | "blocked_endpoint"']
      ])
      assert.match(output, /^src\/layers\/Payments\.ts.*'paypal'/mu)
      assert.match(output, /^adapters\/http\/HttpService\.ts[^]*?"POST \/api\/v1\/apply"/mu)
      assert.match(output, /^adapters\/http\/metering\/CallProblems\.ts.*'planted'/mu)
    }),
  TIMEOUT_MS
)
