/**
 * The Markdown files of the repository that pages show, by their path from its `docs/`.
 */
import { Context } from "effect"

export class Documents extends Context.Service<Documents, ReadonlyMap<string, string>>()(
  "agent-tool-billing/adapters/site/Documents"
) {}
