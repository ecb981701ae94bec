/**
 * Nodes of the service on one database: one that stays for all tests of a file, and others that a test starts and may kill.
 */
import { Context, Effect, Layer, Redacted } from "effect"
import { OPEN_TO_LOAD } from "../load/LoadMarket.ts"
import { PostgresTest } from "../servers/PostgresTest.ts"
import { ready } from "../servers/ServiceProcess.ts"

export const OPERATOR_OF_NODES = "the operator's key of these nodes, 32 characters"

/** On the database of the test. */
export const aNode = Effect.flatMap(PostgresTest, ({ url }) =>
  ready({
    ...OPEN_TO_LOAD,
    DATABASE_URL: Redacted.value(url),
    DATABASE_CONNECTIONS_MAX: "4",
    RECEIPT_SIGNING_SECRET: "the secret that both of these nodes share",
    LOG_SIGNING_KEY: "5e551055".repeat(8),
    OPERATOR_KEY: OPERATOR_OF_NODES,
    PAYMENTS: "dry_run",
    LOG_LEVEL: "Warn"
  })
)

export class SteadyNode extends Context.Service<SteadyNode, { readonly url: string; readonly port: number }>()(
  "agent-tool-billing/test/support/mcp/SteadyNode"
) {
  static readonly layer = Layer.effect(SteadyNode, aNode).pipe(Layer.provideMerge(PostgresTest.layerDatabase))
}
