/**
 * The conformance suite against a reference server directly, and through the door of a provider that runs it.
 */
import { Effect } from "effect"
import { doorMarket } from "../mcp/DoorMarket.ts"
import { toolsOf } from "../mcp/StrangerMarket.ts"
import { keyHop } from "./KeyHop.ts"
import { referenceServer } from "./ReferenceServer.ts"
import { type Outcome, type Revision, runSuite } from "./Scenarios.ts"

export interface Compared {
  readonly scenario: string
  readonly direct: Outcome
  readonly through: Outcome
  readonly kept: boolean
}

export interface Comparison {
  readonly revision: Revision
  readonly scenarios: ReadonlyArray<Compared>
  /** Of the run through the door: the checks that failed, and why. */
  readonly failures: ReadonlyArray<string>
}

const NOT_RUN: Outcome = { passed: 0, failed: 1 }

/**
 * No check fails that passes directly. Fewer may apply: a response that is JSON, where the server would have opened a
 * stream, has no events to check.
 */
const isKept = (direct: Outcome, through: Outcome): boolean => through.failed <= direct.failed

/** At a service with this origin. */
export const compare = Effect.fnUntraced(function* (origin: string, revision: Revision) {
  const upstream = yield* referenceServer
  const tools = yield* toolsOf(upstream)
  const { door, key } = yield* doorMarket(origin, { upstream, tools, onCancel: "pass" })
  const hop = yield* keyHop(door, key)
  const direct = yield* runSuite(upstream, revision)
  const through = yield* runSuite(hop, revision)
  const scenarios = [...direct.outcomes].map(([scenario, outcome]): Compared => {
    const other = through.outcomes.get(scenario) ?? NOT_RUN
    return { scenario, direct: outcome, through: other, kept: isKept(outcome, other) }
  })
  return { revision, scenarios, failures: through.failures } satisfies Comparison
}, Effect.scoped)
