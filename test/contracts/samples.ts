/**
 * Sample accounts, keys and tools: those of the testing kit.
 */
export { aConsumer, aKey, aProvider, instant } from "../../testing/contracts/shared/AccountSamples.ts"
export { aDeclaration, aTool, putTool, toolOf, upserted } from "../../testing/contracts/shared/ToolSamples.ts"
