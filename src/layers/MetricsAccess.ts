/**
 * Who may read /metrics: clients with the token; without a token all clients, except in production.
 */
import type { MetricsAccess } from "../../adapters/http/pipeline/MetricsAccess.ts"
import type { AppConfig } from "../config/AppConfig.ts"

export const metricsAccess = (config: Pick<AppConfig, "profile" | "METRICS_TOKEN">): MetricsAccess =>
  config.METRICS_TOKEN ?? (config.profile === "production" ? "closed" : "open")
