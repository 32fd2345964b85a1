import { brakeCommands } from '../../../../src/protocol/brakes/brakeSchemas.ts'
import type { BrakeCommandType } from '../../../../src/protocol/brakes/brakeTable.ts'
import { checkCommand } from '../../../../src/protocol/bridge/checkCommand.ts'
import type { AgentCommand, CheckedCommand } from '../../../../src/protocol/bridge/commands.ts'
import { checkedBy, type ErrorInfo, messageOf, RuntimeError } from '../../../../src/protocol/errors.ts'
import type { HistoryMessage } from '../../../../src/protocol/history.ts'
import { checkAgentId } from '../../../../src/protocol/ids.ts'
import { metadataSchema, type Metadata } from '../../../../src/protocol/metadata.ts'
import type { RunStopReason } from '../../../../src/protocol/records.ts'
import { partCommands, type PartCommandType } from '../../../../src/protocol/parts/partRecords.ts'
import { z } from 'zod'

/** First state of an agent that is new when a command reaches it. */
export interface Birth {
  /** Name of its definition; needed only where a worker has several. */
  readonly definition?: string
  readonly metadata?: Metadata
  readonly history?: readonly HistoryMessage[]
}

/** A command that the engine brings to an agent: once as an invocation, and perhaps as a signal before that. */
export interface Carried {
  /** The same however often it comes: the log is asked whether it has it already. */
  readonly requestId: string
  /** `wake` asks nothing of the agent: it continues from its log. `open` begins it; `isNew`: it must not exist yet. */
  readonly command: CheckedCommand | { readonly type: 'wake' } | { readonly type: 'open'; readonly isNew?: boolean }
  readonly birth: Birth
}

/** Outcome of an invocation. It holds nothing of a conversation, which is in the store. */
export interface Outcome {
  /**
   * `waiting`: for people, whose decision continues it; `paused`: by a limit, until it is resumed; `stopped`: for good; `refused`: the command,
   * with `error`; nothing has happened then.
   */
  readonly status: 'done' | 'waiting' | 'paused' | 'stopped' | 'refused'
  /** `seq` of the last record of its log. */
  readonly seq: number
  /** `seq` of the record with which the run of the request began, where that is known. */
  readonly from?: number
  /** How the run of the request ended. */
  readonly stopReason?: RunStopReason
  /** Keys of the calls and questions that wait for people. */
  readonly callIds?: readonly string[]
  readonly error?: ErrorInfo
}

const brakeVerbs = Object.keys(brakeCommands).map((type) => type.replace('agent.', '')) as VerbOf<BrakeCommandType>[]

const partVerbs = Object.keys(partCommands).map((type) => type.replace('agent.', '')) as VerbOf<PartCommandType>[]

/** Commands whose senders are told of a refusal: they wait until the log has the command, or the agent rests without it. */
export const answered: ReadonlySet<string> = new Set<Verb>(['decide', 'stop', ...partVerbs])

/** Commands that are brought to an agent at once, even if it runs; `prompt` and `resume` wait for the current run. */
export const nudging = [
  'interrupt',
  'steer',
  'followUp',
  'abort',
  'stop',
  ...brakeVerbs,
  ...partVerbs,
  'use',
  'decide',
] as const satisfies readonly Verb[]

export const waiting = ['prompt', 'resume'] as const satisfies readonly Verb[]

/** A command without `agent.`: the name of its handler. */
export type Verb = VerbOf<AgentCommand['type']>
type VerbOf<T> = T extends `agent.${infer V}` ? V : never

/** Fields that the body of a request may have beside the command. */
const besides = z.object({
  requestId: z.string().min(1).max(512).exactOptional(),
  definition: z.string().exactOptional(),
  metadata: metadataSchema().exactOptional(),
  history: z.array(z.unknown()).exactOptional(),
})

/**
 * Reads the body of a request to a handler.
 *
 * @throws RuntimeError `INVALID_ID`, `INVALID_OPTION`, `INVALID_CONTENT`
 */
export function readCarried(agentId: string, verb: string, body: unknown, requestId: string): Carried {
  checkAgentId(agentId)
  if (body !== undefined && (typeof body !== 'object' || body === null || Array.isArray(body)))
    throw new RuntimeError('INVALID_OPTION', `${verb}: the body is not an object.`)
  const { requestId: given = requestId, ...birth } = checkedBy(besides, body ?? {}, verb)
  const { requestId: _, definition: __, metadata: ___, history: ____, ...rest } = { ...body } as Record<string, unknown>
  return { requestId: given, command: commandOf(agentId, verb, rest), birth: birth as Birth }
}

function commandOf(agentId: string, verb: string, rest: Record<string, unknown>): Carried['command'] {
  if (verb !== 'wake' && verb !== 'open')
    return checkCommand({ ...rest, type: `agent.${verb}`, agentId } as AgentCommand)
  const { isNew, ...others } = rest
  const [unknown] = Object.keys(others)
  if (unknown === undefined) return verb === 'open' ? { type: verb, isNew: isNew === true } : { type: verb }
  throw new RuntimeError('INVALID_OPTION', `${verb}: there is no option ${JSON.stringify(unknown)}.`)
}

/** The same as the body of a request to `carry`. Pure. */
export function requestBodyOf({
  requestId,
  command,
  birth,
}: Carried): { readonly verb: string } & Record<string, unknown> {
  const { type, ...rest } = command
  const { agentId: _, ...said } = rest as { agentId?: string }
  return { ...said, ...birth, requestId, verb: type.replace(/^agent\./, '') }
}

const mostKeys = 1_000
const mostChars = 4_000

/** An outcome that fits into a journal, whatever the agent did: a long list or message is cut. Pure. */
export const journalled = (outcome: Outcome): Outcome => ({
  ...outcome,
  ...(outcome.callIds === undefined ? {} : { callIds: outcome.callIds.slice(0, mostKeys) }),
  ...(outcome.error === undefined
    ? {}
    : { error: { ...outcome.error, message: outcome.error.message.slice(0, mostChars) } }),
})

/** Message of an error, cut to fit into a journal. */
export const shortMessage = (thrown: unknown): string => messageOf(thrown).slice(0, mostChars)
