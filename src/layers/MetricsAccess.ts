/**
 * Who reads /metrics: whoever has the token; without one everybody where the service is tried out, and nobody in production.
 */
import type { MetricsAccess } from "../../adapters/http/pipeline/MetricsAccess.ts"
import type { AppConfig } from "../config/AppConfig.ts"

export const metricsAccess = (config: Pick<AppConfig, "profile" | "METRICS_TOKEN">): MetricsAccess =>
  config.METRICS_TOKEN ?? (config.profile === "production" ? "closed" : "open")
