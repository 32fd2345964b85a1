import type { Snapshot } from 'xstate'
import { z } from 'zod'
import { onlyFields } from '../../../src/protocol/checks/onlyFields.ts'
import { lazily } from '../../../src/protocol/lazily.ts'
import { checkCommand } from '../../../src/protocol/bridge/checkCommand.ts'
import { agentCommands, type AgentCommand } from '../../../src/protocol/bridge/commands.ts'
import type { Content } from '../../../src/protocol/text/saidContent.ts'
import { checkedBy, describeIssues, RuntimeError, toErrorInfo, quoted } from '../../../src/protocol/errors.ts'
import { isAgentId } from '../../../src/protocol/ids.ts'
import type { Pending } from '../../../src/protocol/runs/pending.ts'
import type { PauseReason, Spent } from '../../../src/protocol/records.ts'
import type { Limits } from '../../../src/protocol/runs/runLimits.ts'
import type { RunResult } from '../../../src/protocol/runs/runResult.ts'
import { noneSpent } from '../../../src/log/spent.ts'

/** Input with which an agent's actor is started. */
export interface AgentLogicInput<Deps = unknown> {
  /** Id of the agent; an agent that has a log continues from it. Default: the definition's name and a random part. */
  readonly id?: string
  /** Makes the actor a task: it is done when the run that this starts has ended. Without it, it takes prompts until it is stopped. */
  readonly prompt?: Content
  /** Limits of that run, overriding the agent's. */
  readonly limits?: Limits
  /**
   * Dependencies of the agent's tools. Inspectors see an actor's input, and a restored actor has none: the option of `agentLogic` is the better
   * place for values that are secret or needed after a restart.
   */
  readonly deps?: Deps
}

type Bare<C> = C extends { readonly type: `agent.${infer Type}` }
  ? Omit<C, 'type' | 'agentId'> & { readonly type: Type }
  : never

/** Events of an agent's actor: the commands of an agent without their addressee, such as `{ type: 'prompt', content: 'Hello' }`. */
export type AgentLogicEvent = Bare<Exclude<AgentCommand, { readonly type: 'agent.stop' }>>

/** State of an agent as seen from outside. An object that is the same as before has not changed. */
export type AgentSnapshot<Output = unknown> = Snapshot<RunResult<Output>> & AgentView<Output>

export interface AgentView<Output> {
  readonly agentId: string
  /** Name of the chart's active state; `opening` until the agent is there. */
  readonly state: 'opening' | (string & {})
  /** The text of the newest reply, as far as it has come. */
  readonly text: string
  /** Why the agent is paused. */
  readonly pause: PauseReason | null
  /** Calls and questions that wait for people, here and below: calls to be approved, questions of tools, calls that a client carries out. */
  readonly pending: readonly Pending[]
  /** Usage of the agent in its lifetime. */
  readonly spent: Spent
  /** Result of the run of the input's prompt, or without a prompt of the newest run; absent while it continues. */
  readonly result?: RunResult<Output> | undefined
  /** Prompt of the input as a request; `null` without a prompt. */
  readonly request: AgentRequest | null
  /** Commands that came before the agent was there. */
  readonly queued: readonly AgentLogicEvent[]
}

export interface AgentRequest {
  readonly id: string
  readonly content: Content
  readonly limits?: Limits | undefined
}

/** First snapshot. It never has a key `children`: `@xstate/react` takes every actor it finds there for one of its own. */
export const blank = {
  agentId: '',
  state: 'opening',
  text: '',
  pause: null,
  pending: [],
  spent: noneSpent,
  request: null,
  queued: [],
  output: undefined,
  error: undefined,
} as const

const commandTypes: ReadonlySet<string> = new Set(
  Object.keys(agentCommands.makers).map((type) => type.replace('agent.', '')),
)

/** Returns true if the actor takes the event; like a machine it ignores others. */
export const isCommand = ({ type }: { readonly type: string }): boolean => type !== 'stop' && commandTypes.has(type)

const inputSchema = lazily(() =>
  onlyFields({
    id: z.string(),
    // Checked as the command they become.
    prompt: z.unknown(),
    limits: z.unknown(),
    deps: z.unknown(),
  }).partial(),
)

/**
 * Checks the input of an actor; `name` is that of its definition.
 *
 * @throws RuntimeError `INVALID_OPTION`, `INVALID_ID`, `INVALID_CONTENT`
 */
export function checkInput(
  name: string,
  given: unknown,
  newId: () => string,
): Pick<AgentView<never>, 'agentId' | 'request'> {
  const {
    prompt,
    limits,
    id: agentId = `${name}-${newId()}`,
  } = checkedBy(inputSchema(), given ?? {}, "The input of an agent's actor")
  if (!isAgentId(agentId)) throw new RuntimeError('INVALID_ID', `${quoted(agentId)} is not an agent id.`)
  if (prompt === undefined) {
    if (limits === undefined) return { agentId, request: null }
    throw new RuntimeError('INVALID_OPTION', `The input of an agent's actor: "limits" are those of a "prompt".`)
  }
  const asked = { content: prompt as Content, ...(limits === undefined ? {} : { limits: limits as Limits }) }
  checkCommand({ type: 'agent.prompt', agentId, ...asked })
  return { agentId, request: { id: newId(), ...asked } }
}

const persistedSchema = lazily(() =>
  z.object({
    status: z.enum(['active', 'done', 'error', 'stopped']),
    agentId: z.string(),
    request: z.object({ id: z.string(), content: z.unknown(), limits: z.unknown().optional() }).nullable(),
    queued: z.array(z.looseObject({ type: z.string() })),
  }),
)

/**
 * Returns the persisted form of an actor's snapshot: its agent's id, and the requests it has yet to send. It holds nothing that the agent's log
 * has, and never its `deps`.
 */
export const persisted = ({ status, output, error, agentId, request, queued }: AgentSnapshot): Snapshot<unknown> => {
  const kept = { status, output, error: error === undefined ? undefined : toErrorInfo(error, 'INTERNAL') }
  return { ...kept, agentId, request, queued } as unknown as Snapshot<unknown>
}

/**
 * Returns a snapshot to start from, for the persisted form that `persisted` made.
 *
 * @throws RuntimeError `INVALID_OPTION`
 */
export function restored<Output>(kept: unknown): AgentSnapshot<Output> {
  const checked = persistedSchema().safeParse(kept)
  if (checked.success) return { ...blank, ...(kept as AgentSnapshot<Output>) }
  throw new RuntimeError(
    'INVALID_OPTION',
    `The persisted snapshot of an agent's actor: ${describeIssues(checked.error)}.`,
  )
}
