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
  "smoke",
  "start"
]

/** Suites over both stores run over memory. These have parts that exist only on PostgreSQL. */
const ON_POSTGRES = [
  "adapters/*/{book,changeFeed,databaseCheck,derivedTransfers,distribution,earnings,embeddedPostgres*,feeAudit}",
  "adapters/*/{healthHistory,hostPool,idempotency,importStatements,laneConnection,lateStatement,ledgerAlone,ledgerAloneRaces}",
  "adapters/*/{ledgerFailures,ledgerRaces,lostCalls,migrations,operatorPlans,ownSchema,readOnlyServer,receiptPlans,records}",
  "adapters/*/{serviceRole,sessions,storeFailures,trust,unitOfWork,upkeep,walletSplits,yieldingLocks}",
  "adapters/ledger/receiptCounter",
  "domain/*/{authentication,namePins}",
  "http/*/{deadlines,idempotency,keys,limitsRedis,outages,prices,uncheckedPatterns}",
  "invoices/interrupted",
  "log/{beginLog,files}",
  "payments/{book,killed,lockedRows}",
  "platform/{atRest,fullDisk,health,history,retention,schema}",
  "receipts/archive",
  "receipts/keyRing",
  "security/{fuzz,secrets}",
  "telemetry/{logs,operations}"
]

/** Longer than two seconds, because they wait, start programs, or try very many inputs. */
const SLOW = [
  "adapters/*/{jsonSchemaBounds,jsonSchemas,ledgerModel,schemaWorker}",
  "adapters/mcp/{conformance,limits,progress,providerServers,realServers,sessions,streams}",
  "adapters/mcp/{passedStreams,upstreamBehaviors}",
  "composition/markets",
  "domain/*/{lateEndings,mcpStreams}",
  "http/*/{bodies,clientConfigs,crawlers,docs,docsExamples,docsPages,docsSamples,largeBodies,openapi,pageSamples}",
  "http/*/{hostile,limits,progress,socket,strict,unreadResponses}",
  "log/{merkle,proofs}",
  "mcp/*/{configuredClients,docsSamples,doorKeys,inputRequired,legacyInput,legacyStreams,listChanges}",
  "mcp/*/{listedTools,longCalls,marketClients,refusedTransports,resumingClients}",
  "metering/*/{crash,earlyDisconnects,endingsTable,outcomes,replay,workflow}",
  "payments/{double,stripe}",
  "platform/newAgent",
  "receipts/remoteKey",
  "security/{answerBytes,authorization,connections,limits,schemaBudgets,typeNames}",
  "tasks/{legacyTaskLists,legacyTasks}",
  "telemetry/{accessLog,export,service}",
  "testing/programs",
  "trust/{attacks,verification}"
]

const inMemory = { ...whole, test: { ...whole.test, globalSetup: [], reporters: ["default"] } }

export default mergeConfig(inMemory, {
  test: {
    env: { TEST_WITHOUT_POSTGRES: "1" },
    exclude: [
      ...ROOMS_OF_PROCESSES.map((room) => `test/${room}/**`),
      ...[...ON_POSTGRES, ...SLOW].map((files) => `test/${files}.test.ts`)
    ]
  }
})
