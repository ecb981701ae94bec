/**
 * `npm run test:quick`: the tests that need nothing but memory, for the time between two edits. `npm test` runs everything.
 */
import { mergeConfig } from "vitest/config"
import whole from "../vitest.config.ts"

const ROOMS_OF_PROCESSES = [
  "backup",
  "browser",
  "compatible",
  "crash",
  "embedding",
  "house",
  "nodes",
  "simulation",
  "start"
]

const ON_POSTGRES = [
  "adapters/{book,databaseCheck,distribution,laneConnection,lateStatement,ledgerAlone,ledgerAloneRaces,ledgerModel}",
  "adapters/{derivedTransfers,earnings,embeddedPostgres*,feeAudit,importStatements,ledgerFailures,ledgerRaces,lostCalls}",
  "adapters/{migrations,operatorPlans,readOnlyServer,records,serviceRole,sessions,walletSplits,yieldingLocks}",
  "domain/authentication",
  "http/{deadlines,idempotency,keys,limitsRedis,outages,prices,uncheckedPatterns}",
  "invoices/interrupted",
  "log/{beginLog,files}",
  "payments/{book,killed,lockedRows}",
  "platform/{atRest,fullDisk,history,retention,schema}",
  "receipts/keyRing",
  "security/{fuzz,secrets}",
  "telemetry/{logs,operations}"
]

/** Longer than a few seconds, because they wait, or try very many inputs. */
const SLOW = [
  "adapters/jsonSchemaBounds",
  "adapters/mcp/{conformance,limits,streams,realServers}",
  "http/{docsExamples,unreadResponses,openapi}",
  "log/merkle",
  "mcp/{listedTools,refusedTransports}",
  "metering/{crash,workflow}",
  "payments/{double,stripe}",
  "platform/newAgent",
  "security/{authorization,connections,typeNames}",
  "testing/programs",
  "telemetry/{export,service}",
  "trust/verification"
]

const inMemory = { ...whole, test: { ...whole.test, globalSetup: [], reporters: ["default"] } }

export default mergeConfig(inMemory, {
  test: {
    env: { TEST_WITHOUT_POSTGRES: "1" },
    // Suites that run over both kinds of stores name the store in their titles.
    testNamePattern: /^(?!.*PostgreSQL)/u,
    exclude: [
      ...ROOMS_OF_PROCESSES.map((room) => `test/${room}/**`),
      ...[...ON_POSTGRES, ...SLOW].map((files) => `test/${files}.test.ts`)
    ]
  }
})
