import { z } from 'zod'
import { onlyFields } from '../../../src/protocol/checks/onlyFields.ts'
import type { UpdateKind } from '../../../src/protocol/parts/remote/remoteRecords.ts'
import type { Clock } from '../../../src/protocol/ports/clock.ts'
import type { Spent } from '../../../src/protocol/records.ts'
import type { RestartPolicy } from '../../../src/protocol/runs/restarts.ts'
import type { Snapshots } from '../../../src/protocol/ports/snapshots.ts'
import type { UndoContext } from '../../../src/actors/tools/checkedUndo.ts'
import type { Redaction } from '../../../src/actors/tools/toolContext.ts'
import type { Subject } from '../../../src/actors/parts/permissions/subjects.ts'

/** Limits for one task of a remote agent. A limit has no effect if the protocol does not report its quantity. */
export interface RemoteLimits {
  /** Maximum milliseconds, without the time in which people are asked. Default: an hour. */
  readonly ms?: number | undefined
  readonly turns?: number | undefined
  /** Maximum tokens, input and output together. */
  readonly tokens?: number | undefined
  readonly costUsd?: number | undefined
}

/** Options of remote agents in any protocol. */
export interface RemoteOptions {
  /** Name by which the model calls the agent: 1 to 64 letters, digits, `_` or `-`. */
  readonly name: string
  readonly description?: string | undefined
  /** Zod object schema of the input that a caller passes in addition to the task. The agent receives it as JSON below the task. */
  readonly input?: z.ZodObject | undefined
  readonly limits?: RemoteLimits | undefined
  /** Condition for restarting the agent after a crash or stall. Default `'transient'`: at most 3 times in 60 s, after 200 ms, doubling. */
  readonly restart?: 'never' | 'transient' | undefined
  /** Maximum number of restarts, at most 1,000. */
  readonly maxRestarts?: number | undefined
  readonly windowMs?: number | undefined
  readonly backoffMs?: number | undefined
  /** Milliseconds without activity after which the agent counts as crashed. Default: none. */
  readonly stallMs?: number | undefined
}

/** A task for a remote agent. */
export interface RemoteTask {
  readonly text: string
  /** Id of the call, the same at each restart: an idempotency key. */
  readonly key: string
  /** Handle noted by an earlier run of the same task, here or in a process that is gone. */
  readonly handle?: unknown
}

/** An action for which a remote agent requests permission. */
export interface RemoteRequest {
  /** Names by which rules can refer to the action. People see the first. */
  readonly names: readonly [string, ...string[]]
  /** Effects of the action. `none`: it only reads. */
  readonly effects: 'none' | 'irreversible'
  readonly subject?: Subject | readonly Subject[] | undefined
  /**
   * When people are asked: `always`, unless a rule allows it, only if a rule says so, or `never`, as they have allowed
   * it already. A rule can still deny it. Default `always`.
   */
  readonly asks?: 'always' | 'by rule' | 'never'
  /** Everything that people should see, as JSON. */
  readonly input: unknown
}

export type Permission = { readonly ok: true } | { readonly ok: false; readonly reason: string }

/** The caller of a remote agent, as its protocol implementation sees it. */
export interface RemoteHost {
  /** Aborted when the call is aborted or stalls, its time is up, or a limit is reached. */
  readonly signal: AbortSignal
  readonly clock: Clock
  /** Records in the log how to find the task again. Resolves once that is durable: nothing may be waited for before. */
  note(childId: string, handle: unknown): Promise<void>
  /** Reports progress. Never throws. Updates beyond the limits are left out. */
  update(kind: UpdateKind, text: string): void
  /** Reports activity, so that the agent does not count as stalled. */
  alive(): void
  /** Asks the caller's rules and, if they do not decide, people. */
  permit(request: RemoteRequest): Promise<Permission>
  /**
   * Asks people, as tools do. `isAgain`: if an earlier run asked this as its last question, that answer is used.
   * Rejects if people decline to answer.
   */
  ask<Schema extends z.ZodType>(schema: Schema, question: string, isAgain?: boolean): Promise<z.output<Schema>>
  /** Reports the usage since the task began. */
  used(spent: Spent): void
  /** Reports a changed file or the like. */
  changed(path: string): void
  /** Keeps something that undoing the task needs, JSON, before it is done; the `undo` of the entry is given all of it, the oldest first. Never throws. */
  keep(entry: unknown): void
  readonly snapshots: Snapshots
  readonly redact: Redaction | undefined
}

export interface RemoteAnswer {
  readonly text: string
  /** True if the task did not finish. */
  readonly isError?: boolean
  /** Data for the application, which the model does not see. */
  readonly data?: unknown
}

/** A remote agent, as its protocol defines it for `remoteAgent`. */
export interface RemoteAgentSpec extends Omit<RemoteOptions, 'restart' | 'maxRestarts' | 'windowMs' | 'backoffMs'> {
  readonly protocol: string
  readonly restarts: RestartPolicy
  /** Names by which rules can refer to the agent's requests. */
  readonly asks?: readonly string[] | undefined
  /**
   * Carries out or continues a task. Settles once none of its work runs here any more, soon after `signal` aborts. After an error
   * with the code `CHILD_CRASHED` it is called again, as often as `restarts` allows. Any other error is the answer.
   */
  run(task: RemoteTask, host: RemoteHost): Promise<RemoteAnswer>
  /** Undoes a task using its stored data. Rejects with the parts that were not undone. Absent: tasks cannot be undone. */
  readonly undo?: ((kept: readonly unknown[], context: UndoContext) => Promise<void>) | undefined
}

const count = () => z.int().nonnegative()

/** Returns the schemas of the options, to which protocols add their own. */
export const remoteShape = () => ({
  name: z.string().regex(/^[A-Za-z0-9_-]{1,64}$/, 'use 1 to 64 letters, digits, "_" or "-"'),
  description: z.string().default(''),
  input: z.instanceof(z.ZodObject, { error: 'give a zod object' }).optional(),
  limits: onlyFields({
    ms: z.number().positive().default(3_600_000),
    turns: z.int().positive().optional(),
    tokens: z.int().positive().optional(),
    costUsd: z.number().positive().optional(),
  }).prefault({}),
  restart: z.enum(['never', 'transient']).default('transient'),
  maxRestarts: count().max(1_000).default(3),
  windowMs: count().default(60_000),
  backoffMs: count().default(200),
  stallMs: z.number().positive().default(Infinity),
})
