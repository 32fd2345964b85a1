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

/** Limits of one task of an agent elsewhere. Those that its protocol does not tell cannot be reached. */
export interface RemoteLimits {
  /** Milliseconds, without those in which people are asked. Default an hour. */
  readonly ms?: number | undefined
  readonly turns?: number | undefined
  /** Input and output together. */
  readonly tokens?: number | undefined
  readonly costUsd?: number | undefined
}

/** Options that agents elsewhere have, whatever the protocol. */
export interface RemoteOptions {
  /** The name by which the model calls it: 1 to 64 letters, digits, `_` or `-`. */
  readonly name: string
  readonly description?: string | undefined
  /** Schema of the input that a caller passes in addition to the task: a zod object. The agent is sent it as JSON below the task. */
  readonly input?: z.ZodObject | undefined
  readonly limits?: RemoteLimits | undefined
  /** When it is begun anew after a crash or a stall. Default `'transient'`: at most 3 times in 60 s, after 200 ms, doubling. */
  readonly restart?: 'never' | 'transient' | undefined
  /** At most 1,000. */
  readonly maxRestarts?: number | undefined
  readonly windowMs?: number | undefined
  readonly backoffMs?: number | undefined
  /** Milliseconds without a sign of life after which it counts as crashed. Default: none. */
  readonly stallMs?: number | undefined
}

/** A task for an agent elsewhere. */
export interface RemoteTask {
  readonly text: string
  /** Id of the call, the same in every life: an idempotency key. */
  readonly key: string
  /** Note of an earlier life of the same task, here or in a process that is gone. */
  readonly handle?: unknown
}

/** Something that an agent elsewhere asks to be allowed. */
export interface RemoteRequest {
  /** The names by which rules may be about it; people see the first. */
  readonly names: readonly [string, ...string[]]
  /** `none`: it only looks. */
  readonly effects: 'none' | 'irreversible'
  readonly subject?: Subject | readonly Subject[] | undefined
  /**
   * When people are asked: `always`, unless a rule allows it; only if a rule says so; or `never`, as they have allowed it already. What a rule denies
   * is denied all the same. Default `always`.
   */
  readonly asks?: 'always' | 'by rule' | 'never'
  /** All that people are to see; JSON. */
  readonly input: unknown
}

export type Permission = { readonly ok: true } | { readonly ok: false; readonly reason: string }

/** The caller of an agent elsewhere, as its protocol sees it. */
export interface RemoteHost {
  /** Aborted when the call is, when its time is up or a limit is reached, and when it stalls. */
  readonly signal: AbortSignal
  readonly clock: Clock
  /** Notes in the log how the task is found again. Resolves once that is durable: nothing may be waited for before. */
  note(childId: string, handle: unknown): Promise<void>
  /** Tells how far it is. Never throws; what is too much is left out. */
  update(kind: UpdateKind, text: string): void
  /** Says that it is alive. */
  alive(): void
  /** Asks the rules of the caller and, if they do not decide, people. */
  permit(request: RemoteRequest): Promise<Permission>
  /**
   * Asks people, as tools do. `isAgain`: an earlier life may have asked it as its last question, and then its answer is taken. Rejects if nobody wants to
   * answer.
   */
  ask<Schema extends z.ZodType>(schema: Schema, question: string, isAgain?: boolean): Promise<z.output<Schema>>
  /** Says what it has used so far, since it began. */
  used(spent: Spent): void
  /** Says that it changed a file or the like. */
  changed(path: string): void
  /** Keeps something that undoing the task needs, JSON, before it is done; the `undo` of the entry is given all of it, the oldest first. Never throws. */
  keep(entry: unknown): void
  readonly snapshots: Snapshots
  readonly redact: Redaction | undefined
}

export interface RemoteAnswer {
  readonly text: string
  /** Set if it did not finish. */
  readonly isError?: boolean
  /** Data for the application, which the model does not see. */
  readonly data?: unknown
}

/** An agent that runs elsewhere, as its protocol gives it to `remoteAgent`. */
export interface RemoteAgentSpec extends Omit<RemoteOptions, 'restart' | 'maxRestarts' | 'windowMs' | 'backoffMs'> {
  readonly protocol: string
  readonly restarts: RestartPolicy
  /** Names by which rules can be about what it asks for. */
  readonly asks?: readonly string[] | undefined
  /**
   * Carries a task out, or goes on with it. Settles once nothing of it runs here any more, soon after `signal` aborts. An error with the code
   * `CHILD_CRASHED` has it called again, as often as `restarts` allows; any other is the answer.
   */
  run(task: RemoteTask, host: RemoteHost): Promise<RemoteAnswer>
  /** Undoes a task by what was kept of it; rejects with what was not undone. Absent: tasks are not undone. */
  readonly undo?: ((kept: readonly unknown[], context: UndoContext) => Promise<void>) | undefined
}

const count = () => z.int().nonnegative()

/** Schemas of the options, for protocols to add their own. */
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
