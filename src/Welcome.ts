/**
 * The text that is printed when the service is ready.
 */
import { type AppConfig, valueOf } from "./config/AppConfig.ts"
import { upstreamPolicy } from "./layers/UpstreamPolicy.ts"

const kept = (config: AppConfig): string => {
  switch (config.profile) {
    case "memory":
      return "in memory: all data is lost when it stops"
    case "embedded":
      return `PostgreSQL in ${valueOf(config, "DATA_DIR")}`
    case "production":
      return "PostgreSQL at DATABASE_URL"
  }
}

export const welcome = (config: AppConfig, at: { readonly host: string; readonly port: number }): string => {
  const url = config.BASE_URL ?? `http://${at.host.includes(":") ? `[${at.host}]` : at.host}:${at.port}`
  return [
    `Agent Tool Billing is ready at ${url} (profile ${config.profile}, ${kept(config)})`,
    ...(upstreamPolicy(config).loopback ? ["  tools          can be on this machine (ALLOW_UPSTREAM)"] : []),
    `  documentation  ${url}/docs`,
    `  contract       ${url}/api/openapi.json`,
    `  catalog        curl ${url}/api/market/catalog`,
    `  register       curl ${url}/api/market/register-consumer -H 'content-type: application/json' -d '{"name":"me","email":"me@example.org"}'`
  ].join("\n")
}
