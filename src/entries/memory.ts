/**
 * `agent-tool-billing/memory`: every port of the core but `ToolUpstream`, without external systems, for tests and for
 * programs that replace single ports.
 */
export { memoryPorts } from "../layers/MemoryPorts.ts"
export { memoryStores } from "../layers/MemoryStores.ts"
