import { decisionForms } from './decisionForms.ts'
import { z } from 'zod'
import { onlyFields } from '../checks/onlyFields.ts'
import { lazily } from '../lazily.ts'
import { brakeCommands } from '../brakes/brakeSchemas.ts'
import { partCommands } from '../parts/partRecords.ts'
import type { RevertCategory } from '../braking.ts'
import { contentSchema } from '../content.ts'
import type { Content } from '../text/saidContent.ts'
import { grantSchema, type Grant } from '../parts/permissions/permissionRecords.ts'
import { limitsSchema, type Limits } from '../runs/runLimits.ts'
import { provenanceKindSchema, type ProvenanceKind } from '../provenance.ts'
import { toAgent } from './toAgent.ts'
import { useChangeSchema } from './turns.ts'
import { variants } from './variants.ts'

const said = lazily(() => ({
  ...toAgent(),
  content: contentSchema(),
  /** Origin of the message, if it is not in a person's own words: see `turn.request`. */
  provenance: provenanceKindSchema().exactOptional(),
  /** Messages that precede this one, each with its own provenance. */
  context: z
    .array(onlyFields({ content: contentSchema(), provenance: provenanceKindSchema().exactOptional() }))
    .max(1_000)
    .exactOptional(),
}))

/** The commands an agent accepts, in process or over a connection. */
export const agentCommands = variants({
  'agent.prompt': () =>
    onlyFields({
      ...said(),
      type: z.literal('agent.prompt'),
      limits: limitsSchema().exactOptional(),
    }),
  'agent.interrupt': () =>
    onlyFields({
      ...said(),
      type: z.literal('agent.interrupt'),
      limits: limitsSchema().exactOptional(),
    }),
  'agent.steer': () => onlyFields({ ...said(), type: z.literal('agent.steer') }),
  'agent.followUp': () => onlyFields({ ...said(), type: z.literal('agent.followUp') }),
  'agent.abort': () =>
    onlyFields({
      ...toAgent(),
      type: z.literal('agent.abort'),
      /** Id of the run's request: only this run ends, or is withdrawn if it still waits. */
      run: z.string().exactOptional(),
      /** Background calls to keep: `false` leaves all of them running; `'run'` leaves those of earlier runs. */
      background: z.union([z.literal(false), z.literal('run')], { error: 'give true, false or "run"' }).exactOptional(),
    }),
  'agent.resume': () =>
    onlyFields({ ...toAgent(), type: z.literal('agent.resume'), limits: limitsSchema().exactOptional() }),
  'agent.stop': () => onlyFields({ ...toAgent(), type: z.literal('agent.stop') }),
  ...brakeCommands,
  ...partCommands,
  /** Changes values from the next turn on. `null` resets all of them to the definition's. */
  'agent.use': () => onlyFields({ ...toAgent(), type: z.literal('agent.use'), use: useChangeSchema().nullable() }),
  'agent.decide': () =>
    onlyFields({
      ...toAgent(),
      type: z.literal('agent.decide'),
      callId: z.string(),
      /** `approve` or `deny` for an approval; `answer` or `deny` for a question; `return`, `fail` or `deny` for a call that a client carries out. */
      decision: z.enum(['approve', 'deny', 'answer', 'return', 'fail'], decisionForms),
      /** Reason, for `deny` and `fail`. */
      reason: z.string().exactOptional(),
      /** Arguments that replace the model's, for `approve`. */
      input: z.unknown().exactOptional(),
      /** Rule by which the same decision holds for further calls from now on. */
      grant: grantSchema().exactOptional(),
      /** The value, for `answer` and `return`. */
      value: z.unknown().exactOptional(),
      /** Data for the application beside the value, for `return`. */
      data: z.unknown().exactOptional(),
    }),
})
export type AgentCommand = z.input<ReturnType<typeof agentCommands.schema>>
/** A command whose content is in blocks. */
export type CheckedCommand = z.output<ReturnType<typeof agentCommands.schema>>

/** Options of a revert to a step. */
export interface RevertCommandOptions {
  readonly category: RevertCategory
  /** Text of the note. */
  readonly summary?: string | undefined
  /** Undoes the effects of the abandoned calls, as far as their tools can. Default `false`. */
  readonly undo?: boolean | undefined
}

/** Options of any message to an agent. */
export interface SayOptions {
  /** Origin of the message, if it is not from a person: shown in the provenance of `turn.request`. */
  readonly provenance?: ProvenanceKind | undefined
  /** Messages to put before this one, such as memories that the application looked up. */
  readonly context?: readonly { readonly content: Content; readonly provenance?: ProvenanceKind }[] | undefined
}

export interface RunOptions extends SayOptions {
  /** Limits of this run, overriding the agent's. */
  readonly limits?: Limits | undefined
  /** Signal that ends only this run, or withdraws a waiting prompt. The result then says `aborted`. No run begins if it is already aborted. */
  readonly signal?: AbortSignal | undefined
}

/** Steps to hide, mask or show again: the named ones, or the oldest until the given number of tokens is hidden or freed. */
export interface PruneOptions {
  readonly steps?: readonly string[] | undefined
  /** Estimated number of tokens to hide; not together with `steps`. */
  readonly tokens?: number | undefined
  /** Text that the model reads in place of the steps. */
  readonly memo?: string | undefined
  /** Keeps the steps and their calls visible, and replaces the content of each result by a line. Not together with `memo`. */
  readonly mask?: true | undefined
  /** Shows hidden, folded and masked `steps` again, in their places. Not together with `memo`, `mask` or `tokens`. */
  readonly show?: true | undefined
}

export interface CompactOptions {
  /** A description of the content that the summary should keep above all, such as "the port numbers". */
  readonly focus?: string | undefined
}

/**
 * Decision on something that waits for people. A call that needs an approval is approved or denied. A tool's question
 * gets a value or is denied. A call that a client carries out gets its result or an error for the model, or is denied.
 */
export type Decision =
  | 'approve'
  | 'deny'
  | { readonly value: unknown }
  | { readonly result: unknown; readonly data?: unknown }
  | { readonly error: string }

export interface DecideOptions {
  /** Reason for the denial, shown to the model. */
  readonly reason?: string | undefined
  /** Arguments of an approved call that replace the model's. */
  readonly input?: unknown
  /** A rule, such as one that the request suggests. It applies the same decision to further calls that it matches. */
  readonly grant?: Grant | undefined
}
