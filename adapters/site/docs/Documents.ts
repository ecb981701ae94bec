/**
 * The Markdown files of the repository's `docs/` that pages show, by their path below it.
 */
import { Context } from "effect"

export class Documents extends Context.Service<Documents, ReadonlyMap<string, string>>()(
  "agent-tool-billing/adapters/site/Documents"
) {}
