/**
 * The package's entry `agent-tool-billing/client`.
 */
export { type Client, type ClientOptions, createClient, type RequestOptions } from "./Client.ts"
export type { Operations, Schemas } from "./Contract.ts"
export { NoAnswerError, type Problem, type ProblemCode, ProblemError, type ProblemErrorOf } from "./Problem.ts"
export type { Progress } from "./Send.ts"
export { verifyReceipt } from "./VerifyReceipt.ts"
