import { decisionForms } from './decisionForms.ts'
import { z } from 'zod'
import { onlyFields } from '../checks/onlyFields.ts'
import { lazily } from '../lazily.ts'
import { brakeCommands } from '../brakes/brakeSchemas.ts'
import type { RevertCategory } from '../braking.ts'
import { contentSchema } from '../content.ts'
import type { Content } from '../text/saidContent.ts'
import { limitsSchema, type Limits } from '../runs/runLimits.ts'
import { provenanceKindSchema, type ProvenanceKind } from '../provenance.ts'
import { toAgent } from './toAgent.ts'
import { useChangeSchema } from './turns.ts'
import { variants } from './variants.ts'

const said = lazily(() => ({
  ...toAgent(),
  content: contentSchema(),
  /** Where it comes from, when it is not a person's own words: see `turn.request`. */
  provenance: provenanceKindSchema().exactOptional(),
  /** Messages that go before it, each with its own provenance. */
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
      /** The request of the run: only this one ends, and is withdrawn if it still waits. */
      run: z.string().exactOptional(),
    }),
  'agent.resume': () =>
    onlyFields({ ...toAgent(), type: z.literal('agent.resume'), limits: limitsSchema().exactOptional() }),
  'agent.stop': () => onlyFields({ ...toAgent(), type: z.literal('agent.stop') }),
  ...brakeCommands,
  /** `null`: the values of its definition. */
  'agent.use': () => onlyFields({ ...toAgent(), type: z.literal('agent.use'), use: useChangeSchema().nullable() }),
  'agent.decide': () =>
    onlyFields({
      ...toAgent(),
      type: z.literal('agent.decide'),
      callId: z.string(),
      /** For an approval `approve` or `deny`; for a question `answer` or `deny`; for a call that a client carries out `return`, `fail` or `deny`. */
      decision: z.enum(['approve', 'deny', 'answer', 'return', 'fail'], decisionForms),
      /** For `deny` and `fail`. */
      reason: z.string().exactOptional(),
      /** For `approve`: arguments in place of the model's. */
      input: z.unknown().exactOptional(),
      /** For `answer` and `return`. */
      value: z.unknown().exactOptional(),
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
  /** Where it comes from, if not from a person: shown in the provenance of `turn.request`. */
  readonly provenance?: ProvenanceKind | undefined
  /** Messages to put before it, such as memories the application looked up. */
  readonly context?: readonly { readonly content: Content; readonly provenance?: ProvenanceKind }[] | undefined
}

export interface RunOptions extends SayOptions {
  /** Limits of this run, overriding the agent's. */
  readonly limits?: Limits | undefined
  /**
   * Ends this run and no other when it is aborted, and withdraws it while it waits; the result says `aborted`. No run begins if it is aborted
   * already.
   */
  readonly signal?: AbortSignal | undefined
}

/** Steps to hide or mask: these, or the oldest until so many tokens are hidden or freed. */
export interface PruneOptions {
  readonly steps?: readonly string[] | undefined
  /** Estimated tokens; without `steps`. */
  readonly tokens?: number | undefined
  /** Text that the model reads in their place. */
  readonly memo?: string | undefined
  /** Leaves the steps and their calls in sight, and replaces the content of each result by a line. Without `memo`. */
  readonly mask?: true | undefined
}

export interface CompactOptions {
  /** The content that the summary should keep above all, in words, such as "the port numbers". */
  readonly focus?: string | undefined
}

/**
 * Decision on something that waits for people: a call that needs an approval is approved or denied, a question of a tool is given a value (or
 * denied), a call that a client carries out is given its result, or an error for the model (or denied).
 */
export type Decision =
  | 'approve'
  | 'deny'
  | { readonly value: unknown }
  | { readonly result: unknown }
  | { readonly error: string }

export interface DecideOptions {
  /** Why it is denied: the model is told. */
  readonly reason?: string | undefined
  /** Arguments of an approved call in place of the model's. */
  readonly input?: unknown
}
