/**
 * The service's public URL; every link in a response begins with it.
 */
import { Context } from "effect"

export const BaseUrl = Context.Reference<string>("agent-tool-billing/adapters/http/BaseUrl", {
  defaultValue: () => "http://127.0.0.1:3000"
})
