/**
 * docs/conformance.md, from the comparisons of every revision.
 */
import type { Comparison, Compared } from "./Comparison.ts"
import { suiteVersion } from "./Scenarios.ts"

const counts = ({ failed, passed }: Compared["direct"]): string =>
  failed === 0 ? `${passed} passed` : `${passed} passed, ${failed} failed`

const section = ({ revision, scenarios }: Comparison): string => {
  const passing = scenarios.filter(({ direct }) => direct.failed === 0 && direct.passed > 0)
  const kept = passing.filter((one) => one.kept)
  const lost = passing.filter((one) => !one.kept).map(({ scenario }) => `\`${scenario}\``)
  return [
    `## ${revision}`,
    `${passing.length} of ${scenarios.length} scenarios pass directly; ${kept.length} of these ${passing.length} pass through \`/mcp/{provider}\`.` +
      (lost.length === 0 ? "" : ` These do not: ${lost.join(", ")}.`),
    [
      "| scenario | directly | through the door |",
      "| --- | --- | --- |",
      ...scenarios.map((one) => `| \`${one.scenario}\` | ${counts(one.direct)} | ${counts(one.through)} |`)
    ].join("\n")
  ].join("\n\n")
}

export const report = (comparisons: ReadonlyArray<Comparison>): string =>
  `${[
    "# Conformance",
    "Made by `npm run conformance`; do not edit.",
    `The server scenarios of \`@modelcontextprotocol/conformance\` ${suiteVersion} run twice for each revision of the Model Context Protocol: directly against a reference server, and through the door of a provider that runs this server. A hop in front of the door adds the key, which the suite cannot send. The reference server is the official TypeScript SDK 2.x with the tools, resources and prompts that the scenarios call (\`test/support/conformance\`).`,
    "Fewer checks can apply through the door: where the server opens a stream and the door responds with JSON, there are no events to check. `test/compatible/conformance.test.ts` fails if a check that passes directly does not pass through the door.",
    ...comparisons.map(section)
  ].join("\n\n")}\n`
