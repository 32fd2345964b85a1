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
  /** Makes the actor a task, which is done when the run of this prompt has ended. Without it, the actor takes prompts until it is stopped. */
  readonly prompt?: Content
  /** Limits of the run of `prompt`, overriding the agent's. */
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

/** State of an agent as seen from outside. Parts that have not changed keep their object. */
export type AgentSnapshot<Output = unknown> = Snapshot<RunResult<Output>> & AgentView<Output>

export interface AgentView<Output> {
  readonly agentId: string
  /** Name of the chart's active state; `opening` until the agent is open. */
  readonly state: 'opening' | (string & {})
  /** The text of the newest reply, as far as it has been streamed. */
  readonly text: string
  /** Why the agent is paused. */
  readonly pause: PauseReason | null
  /** Calls and questions that wait for people, here and in agents below: calls to be approved, questions of tools, client calls. */
  readonly pending: readonly Pending[]
  /** Usage of the agent in its lifetime. */
  readonly spent: Spent
  /** Result of the run of the input's prompt or, without a prompt, of the newest run; absent while that run continues. */
  readonly result?: RunResult<Output> | undefined
  /** Prompt of the input as a request; `null` without a prompt. */
  readonly request: AgentRequest | null
  /** Commands that arrived before the agent was open. */
  readonly queued: readonly AgentLogicEvent[]
}

export interface AgentRequest {
  readonly id: string
  readonly content: Content
  readonly limits?: Limits | undefined
}

/** First snapshot. It never has a key `children`, because `@xstate/react` treats every actor under that key as its own. */
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

/** Returns true if the actor takes the event; it ignores all others, as a machine does. */
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
 * Checks the input of an actor; `name` is the name of its definition.
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
 * Returns the persisted form of an actor's snapshot: its agent's id, and the requests that are
 * still to be sent. It never holds `deps`, or anything that is in the agent's log.
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
