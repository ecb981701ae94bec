/**
 * `agent-tool-billing/effect-client`: a client of the HTTP API for Effect programs, over the network or in one process.
 */
export {
  type ApiClient,
  type ApiClientOptions,
  IdempotencyKey,
  layerInProcess,
  make
} from "../../adapters/http/client/ApiClient.ts"
