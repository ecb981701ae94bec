/**
 * The origin of the log, and the file with the last signed tree.
 */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Layer } from "effect"
import * as SignedTreeFile from "../../adapters/files/SignedTreeFile.ts"
import { type AppConfig, valueOf } from "../config/AppConfig.ts"

const FILE = "log-signed-tree"

export const logHome = (baseUrl: string): string => `${baseUrl.replace(/^https?:\/\//u, "")}/api/v1/market/log`

export const logState = (config: AppConfig) => {
  const file =
    config.LOG_STATE_FILE ?? (config.profile === "embedded" ? `${valueOf(config, "DATA_DIR")}/${FILE}` : undefined)
  return file === undefined || config.profile === "memory"
    ? Layer.empty
    : SignedTreeFile.layer(file).pipe(Layer.provide(NodeServices.layer))
}

/** Of a service on its own socket. */
export const baseUrlOf = (config: AppConfig): string =>
  config.BASE_URL ?? `http://${hostInUrl(valueOf(config, "HOST"))}:${valueOf(config, "PORT")}`

const hostInUrl = (host: string): string => (host.includes(":") ? `[${host}]` : host)
