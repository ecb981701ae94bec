/**
 * Memory of a process, as the system reports it.
 */
import { spawnSync } from "node:child_process"

const MIB = 1_024

export const residentMib = (pid: number): number =>
  Number(spawnSync("ps", ["-o", "rss=", "-p", String(pid)], { encoding: "utf8" }).stdout) / MIB
