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

/** Initial state of an agent or a machine that does not exist yet when a command reaches it. */
export interface Birth {
  /** Name of the definition. Needed for a machine, and for an agent if the worker has several definitions. */
  readonly definition?: string
  /** Input of a machine. */
  readonly input?: unknown
  readonly metadata?: Metadata
  readonly history?: readonly HistoryMessage[]
}

/** A command that the engine brings to an agent: once as an invocation, and perhaps as a signal before that. */
export interface Carried {
  /** Id that stays the same however often the command comes. The log shows whether it was already taken. */
  readonly requestId: string
  readonly command: CheckedCommand | OwnCommand
  readonly birth: Birth
  /** Agent of a machine that receives the command. */
  readonly to?: string
}

/**
 * Commands that agents do not have. `wake` requests nothing: the agent continues from its log.
 * `open` begins the agent; `isNew`: it must not exist yet. `event` is for a machine.
 */
export type OwnCommand =
  | { readonly type: 'wake' }
  | { readonly type: 'open'; readonly isNew?: boolean }
  | { readonly type: 'event'; readonly event: object }

/** Fields of the commands of `OwnCommand`. */
const ownFields: { readonly [verb: string]: readonly string[] } = { wake: [], open: ['isNew'], event: ['event'] }

/** Outcome of an invocation. It holds nothing of the conversation, which is in the store. */
export interface Outcome {
  /**
   * `waiting`: for people, whose decision continues it; `paused`: by a limit, until it is resumed; `stopped`: for good; `refused`: the command,
   * with `error`; nothing has happened then.
   */
  readonly status: 'done' | 'waiting' | 'paused' | 'stopped' | 'refused'
  /** `seq` of the last record in the agent's log. */
  readonly seq: number
  /** `seq` of the record with which the requested run began, if known. */
  readonly from?: number
  /** Reason why the requested run ended. */
  readonly stopReason?: RunStopReason
  /** Keys of the calls and questions that wait for people. */
  readonly callIds?: readonly string[]
  readonly error?: ErrorInfo
}

const brakeVerbs = Object.keys(brakeCommands).map((type) => type.replace('agent.', '')) as VerbOf<BrakeCommandType>[]

const partVerbs = Object.keys(partCommands).map((type) => type.replace('agent.', '')) as VerbOf<PartCommandType>[]

/** Commands whose senders receive a refusal. They wait until the log has the command, or the agent rests without it. */
export const answered: ReadonlySet<string> = new Set<Verb>(['decide', 'stop', 'event', ...partVerbs])

/** Commands that are brought to an agent at once, even during a run; `prompt` and `resume` wait for the current run. */
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
  'event',
] as const satisfies readonly Verb[]

export const waiting = ['prompt', 'resume'] as const satisfies readonly Verb[]

/** A command's type without `agent.`, which is the name of its handler. */
export type Verb = VerbOf<AgentCommand['type']> | 'event'
type VerbOf<T> = T extends `agent.${infer V}` ? V : never

/** Fields that the body of a request may have beside the command. */
const besides = z.object({
  requestId: z.string().min(1).max(512).exactOptional(),
  definition: z.string().exactOptional(),
  metadata: metadataSchema().exactOptional(),
  history: z.array(z.unknown()).exactOptional(),
  input: z.unknown().exactOptional(),
  to: z.string().exactOptional(),
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
  const { requestId: given = requestId, to, ...birth } = checkedBy(besides, body ?? {}, verb)
  const rest = Object.fromEntries(Object.entries(body ?? {}).filter(([name]) => !(name in besides.shape)))
  if (to !== undefined) checkAgentId(to)
  const command = commandOf(to ?? agentId, verb, rest)
  return { requestId: given, command, birth: birth as Birth, ...(to === undefined ? {} : { to }) }
}

function commandOf(agentId: string, verb: string, rest: Record<string, unknown>): Carried['command'] {
  const fields = Object.hasOwn(ownFields, verb) ? ownFields[verb]! : undefined
  if (fields === undefined) return checkCommand({ ...rest, type: `agent.${verb}`, agentId } as AgentCommand)
  const unknown = Object.keys(rest).find((name) => !fields.includes(name))
  const isNew = verb === 'open' ? { isNew: rest['isNew'] === true } : {}
  if (unknown === undefined) return { ...rest, ...isNew, type: verb } as OwnCommand
  throw new RuntimeError('INVALID_OPTION', `${verb}: there is no option ${JSON.stringify(unknown)}.`)
}

/** Returns a command as the body of a request to `carry`. Pure. */
export function requestBodyOf({
  requestId,
  command,
  birth,
  to,
}: Carried): { readonly verb: string } & Record<string, unknown> {
  const { type, ...rest } = command
  const { agentId: _, ...said } = rest as { agentId?: string }
  const target = to === undefined ? {} : { to }
  return { ...said, ...birth, ...target, requestId, verb: type.replace(/^agent\./, '') }
}

const mostKeys = 1_000
const mostChars = 4_000

/** Returns an outcome that fits into a journal: a long list or message is cut. Pure. */
export const journalled = (outcome: Outcome): Outcome => ({
  ...outcome,
  ...(outcome.callIds === undefined ? {} : { callIds: outcome.callIds.slice(0, mostKeys) }),
  ...(outcome.error === undefined
    ? {}
    : { error: { ...outcome.error, message: outcome.error.message.slice(0, mostChars) } }),
})

/** Message of an error, cut to fit into a journal. */
export const shortMessage = (thrown: unknown): string => messageOf(thrown).slice(0, mostChars)
