/**
 * Sample servers and requests that are passed on to them: those of the testing kit.
 */
export { CONSUMER, INITIALIZE, passed, serverAt } from "../../testing/contracts/shared/ServerSamples.ts"
