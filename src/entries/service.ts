/**
 * `agent-tool-billing/service`: the whole service for its options, its HTTP API in your router or on its own server. An
 * option that needs an optional package fails with `PackageMissing`, which names the package.
 */
export { Dispatcher } from "../../adapters/http/pipeline/Dispatcher.ts"
export type { ServerSentEvent, WebRequest, WebResponse } from "../../adapters/http/pipeline/WebRequest.ts"
export {
  CannotListen,
  layer as nodeServer,
  ListeningAt,
  type ServerSettings
} from "../../adapters/http/server/NodeServer.ts"
export { layer as routerMount, WrongPrefix } from "../../adapters/http/server/RouterMount.ts"
export { ConfigInvalid } from "../config/AppConfig.ts"
export type { ServiceOptions } from "../config/ServiceOptions.ts"
export { Fatal } from "../layers/Process.ts"
export { type OptionalPackage, PackageMissing } from "../layers/OptionalPackages.ts"
export type { CannotReplace, ReplaceablePort, Replacements } from "../layers/Replacements.ts"
export { service } from "../layers/Service.ts"
