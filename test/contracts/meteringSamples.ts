/**
 * Listed tools and completed calls: those of the testing kit.
 */
export { aListedTool, called, type CalledTool, FIRST_PAGE } from "../../testing/contracts/shared/ToolSamples.ts"
