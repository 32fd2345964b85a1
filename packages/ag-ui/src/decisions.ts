import type { Message, ResumeEntry, RunAgentInput } from '@ag-ui/core'
import { z } from 'zod'
import { onlyFields } from '../../../src/protocol/checks/onlyFields.ts'
import type { DecideOptions, Decision } from '../../../src/protocol/bridge/commands.ts'
import { grantSchema } from '../../../src/protocol/parts/permissions/permissionRecords.ts'
import { RuntimeError } from '../../../src/protocol/errors.ts'
import type { DrivenAgent } from '../../bridge/src/server/drivenAgent.ts'
import { toolCallIdOf } from './ids.ts'
import { mediaBlock } from './userInput.ts'

/** A client's decision about a pending call or question. `callId` is its key. */
export interface Decided {
  readonly callId: string
  readonly decision: Decision
  readonly how?: DecideOptions
}

const approvalSchema = z.object({
  approved: z.boolean(),
  reason: z.string().optional(),
  input: z.unknown().optional(),
  grant: grantSchema().optional(),
})
const callSchema = z.union([onlyFields({ error: z.string() }), onlyFields({ result: z.unknown() })])

/**
 * Returns the decision in an answer to an interrupt.
 *
 * @throws RuntimeError `CALL_NOT_PENDING`, `INVALID_OPTION`
 */
export function decisionFor(agent: DrivenAgent, entry: ResumeEntry): Decided {
  const { interruptId, status, payload } = entry
  const pending = agent.pending().find(({ key }) => key === interruptId)
  if (pending === undefined) throw notPending(entry)
  const callId = interruptId
  if (status === 'cancelled') return { callId, decision: 'deny', how: { reason: 'The question was cancelled.' } }
  switch (pending.kind) {
    case 'approval': {
      const { approved, reason, input, grant } = read(
        approvalSchema,
        entry,
        '{ approved: boolean, reason?: string, input?: …, grant?: { rule, scope } }',
      )
      const why = { ...(reason === undefined ? {} : { reason }), ...(grant === undefined ? {} : { grant }) }
      if (!approved) return { callId, decision: 'deny', how: why }
      return { callId, decision: 'approve', how: input === undefined ? why : { ...why, input } }
    }
    case 'question':
      return { callId, decision: { value: payload as unknown } }
    case 'call':
      return { callId, decision: read(callSchema, entry, '{ result } or { error: string }') }
  }
}

function read<T>(schema: z.ZodType<T>, { interruptId, payload }: ResumeEntry, shape: string): T {
  const parsed = schema.safeParse(payload)
  if (parsed.success) return parsed.data
  throw new RuntimeError('INVALID_OPTION', `resume: the payload for "${interruptId}" is not ${shape}.`)
}

/**
 * Reads results of the client's own tools from the messages that it sends. Only calls that still wait are included; the first result of a
 * call counts.
 */
export function clientResults(agent: DrivenAgent, messages: readonly Message[]): Decided[] {
  const waiting = new Map(
    agent
      .pending()
      .flatMap(({ kind, agentId, callId, key }) =>
        kind === 'call' ? [[toolCallIdOf(agent.id, agentId, callId), key] as const] : [],
      ),
  )
  if (waiting.size === 0) return []
  return messages.flatMap((message): Decided[] => {
    if (message.role !== 'tool') return []
    const callId = waiting.get(message.toolCallId)
    if (callId === undefined) return []
    // The first counts.
    waiting.delete(message.toolCallId)
    return [{ callId, decision: outcomeOf(message) }]
  })
}

/**
 * Returns decisions about calls of the client's own tools that have no result when a new message arrives: the page was
 * reloaded, or the person wrote instead of answering. None if anything else waits for people to decide.
 */
export function passedOver(
  agent: DrivenAgent,
  { messages }: Pick<RunAgentInput, 'messages'>,
  tools: ReadonlySet<string>,
): Decided[] {
  const pending = agent.pending()
  if (!pending.every(({ kind, name }) => kind === 'call' && tools.has(name))) return []
  const given = new Set(clientResults(agent, messages).map(({ callId }) => callId))
  const decision = { error: 'There is no result: the person said something else instead.' }
  return pending.filter(({ key }) => !given.has(key)).map(({ key }) => ({ callId: key, decision }))
}

function outcomeOf({ content, error }: Extract<Message, { role: 'tool' }>): Decision {
  if (error !== undefined) return { error }
  if (typeof content === 'string') return { result: content }
  return {
    result: content.map((part) =>
      part.type === 'text'
        ? { type: 'text', text: part.text }
        : part.source.type === 'data'
          ? mediaBlock(part.type, part.source)
          : { type: 'text', text: `[a part of type "${part.type}", which agents do not take]` },
    ),
  }
}

export const notPending = ({ interruptId }: ResumeEntry): RuntimeError =>
  new RuntimeError('CALL_NOT_PENDING', `resume: "${interruptId}" does not wait for an answer.`)
