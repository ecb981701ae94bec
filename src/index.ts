/**
 * The package's main entry: compositions for programs that embed the service. Services, ports and adapters are imported
 * by their files, such as `agent-tool-billing/domain/metering/Metering`.
 */
export { type AppConfig, readConfig } from "./config/AppConfig.ts"
export { type BooksPort, Books } from "./layers/Books.ts"
export { core } from "./layers/Core.ts"
export { Fatal } from "./layers/Fatal.ts"
export { jobs } from "./layers/Jobs.ts"
export { memoryPorts } from "./layers/MemoryPorts.ts"
export { memoryStores } from "./layers/MemoryStores.ts"
export { postgresStores } from "./layers/PostgresStores.ts"
export { service } from "./layers/Service.ts"
