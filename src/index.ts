/**
 * The package's front door: compositions for those who embed the service. Single services and ports are imported by
 * their files, `agent-tool-billing/domain/metering/Metering`, adapters likewise.
 */
export { type AppConfig, readConfig } from "./config/AppConfig.ts"
export { core } from "./layers/Core.ts"
export { Fatal } from "./layers/Fatal.ts"
export { jobs } from "./layers/Jobs.ts"
export { memoryPorts } from "./layers/MemoryPorts.ts"
export { memoryStores } from "./layers/MemoryStores.ts"
export { postgresStores } from "./layers/PostgresStores.ts"
export { service } from "./layers/Service.ts"
