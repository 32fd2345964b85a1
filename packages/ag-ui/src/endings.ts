import { isWait } from '../../../src/protocol/runs/waits.ts'
import { EventType, type Event, type Interrupt, type TokenUsage } from '@ag-ui/core'
import { callAsText } from '../../charts/src/text/callInFull.ts'
import type { Usage } from '../../../src/protocol/messages.ts'
import type { Pending } from '../../../src/protocol/runs/pending.ts'
import type { PauseReason, RecordOf } from '../../../src/protocol/records.ts'
import type { RunResult } from '../../../src/protocol/runs/runResult.ts'
import type { DrivenAgent } from '../../bridge/src/server/drivenAgent.ts'
import { withOutwardError } from '../../bridge/src/server/outwardError.ts'
import { toolCallIdOf, pauseInterruptId } from './ids.ts'

/** The end of a run. */
export type Ending =
  | { readonly type: 'interrupt'; readonly interrupts: readonly Interrupt[] }
  | { readonly type: 'success'; readonly result?: { readonly stopReason: string; readonly text: string } }
  | { readonly type: 'cancelled' }
  | { readonly type: 'error'; readonly code: string; readonly message: string }

/** The last event of a run whose agent another process has taken over. That process then reports how the run continues. */
export const lostEvent: Event = {
  type: EventType.RUN_ERROR,
  code: 'STORE_LEASE_LOST',
  message: 'Another process has the conversation by now. Ask for the run with its runId again, where it is served.',
}

/** The schema of an answer to an approval. */
const approvalAnswer = {
  type: 'object',
  properties: { approved: { type: 'boolean' }, reason: { type: 'string' }, input: {} },
  required: ['approved'],
}

/** The schema of an answer to an approval that may add a rule. */
const ruledAnswer = {
  ...approvalAnswer,
  properties: {
    ...approvalAnswer.properties,
    grant: {
      type: 'object',
      properties: { rule: { type: 'string' }, scope: { enum: ['session', 'always'] } },
      required: ['rule', 'scope'],
    },
  },
}

/** The schema of a client's result for a call. */
const callAnswer = { type: 'object', properties: { result: {}, error: { type: 'string' } } }

/** Names of the tools that a client has. */
export type ClientTools = ReadonlySet<string>

/** Returns the end of a run that cannot continue before people answer: interrupts, or only calls of the client's own tools. */
export function waitEnding(agent: DrivenAgent, tools: ClientTools): Ending {
  const pending = agent.pending()
  const isForClient = ({ kind, name }: Pending): boolean => kind === 'call' && tools.has(name)
  const interrupts = pending.filter((one) => !isForClient(one)).map((one) => interruptOf(agent.id, one))
  if (interrupts.length > 0) return { type: 'interrupt', interrupts }
  // Which calls is not named: clients of before AG-UI 1.0 refuse a run whose outcome has more, and all of them know calls without a result.
  return { type: 'success' }
}

function interruptOf(rootId: string, pending: Pending): Interrupt {
  const { kind, agentId, callId, key, name, input } = pending
  return {
    id: key,
    ...whatIsAsked(pending),
    toolCallId: toolCallIdOf(rootId, agentId, callId),
    metadata: { escapement: { kind, agentId, callId, name, input, ...suggested(pending) } },
    ...(agentId === rootId ? {} : { subagentRunId: agentId }),
  }
}

const suggested = (pending: Pending): { readonly suggest?: readonly string[] } =>
  pending.kind === 'approval' && pending.suggest !== undefined ? { suggest: pending.suggest } : {}

function whatIsAsked(pending: Pending): Pick<Interrupt, 'reason' | 'message' | 'responseSchema'> {
  switch (pending.kind) {
    case 'approval':
      return {
        reason: 'tool_call',
        message: `May "${pending.name}" be called?${callAsText(pending.input)}`,
        responseSchema: pending.suggest === undefined ? approvalAnswer : ruledAnswer,
      }
    case 'question':
      return { reason: 'escapement:question', message: pending.question, responseSchema: pending.schema }
    case 'call':
      return {
        reason: 'escapement:call',
        message: `"${pending.name}" is to be carried out.${callAsText(pending.input)}`,
        responseSchema: callAnswer,
      }
  }
}

/** Returns the end of an agent's run in AG-UI's form. */
export function endingOf(agent: DrivenAgent, end: RecordOf<'run.end'> | RunResult, text: string): Ending {
  const { stopReason, reason, error } = withOutwardError(end)
  if (stopReason === 'error') {
    return {
      type: 'error',
      code: error?.code ?? 'INTERNAL',
      message: error?.message ?? 'The run failed.',
    }
  }
  if (stopReason === 'aborted') return { type: 'cancelled' }
  if (stopReason === 'paused') {
    if (reason === undefined && error !== undefined) return { type: 'error', ...error }
    return { type: 'interrupt', interrupts: [pauseInterrupt(agent.id, reason)] }
  }
  return { type: 'success', result: { stopReason, text } }
}

function pauseInterrupt(agentId: string, reason: PauseReason | undefined): Interrupt {
  return {
    id: pauseInterruptId(agentId),
    reason: `escapement:${reason?.type ?? 'interrupted'}`,
    message: 'The run is paused. Shall it go on?',
    ...(reason === undefined ? {} : { metadata: { escapement: reason } }),
  }
}

/** Returns the ending for a client that only watches. `undefined`: something is under way, which requires that the agent works. */
export function restEnding(agent: DrivenAgent, { works }: { readonly works: boolean }): Ending | undefined {
  const { pause, state } = agent
  // It waits for people, or goes on by itself.
  if (pause !== null && isWait(pause)) return undefined
  if (pause !== null) return { type: 'interrupt', interrupts: [pauseInterrupt(agent.id, pause)] }
  return works && state !== 'idle' && state !== 'stopped' ? undefined : { type: 'success' }
}

/** Returns an ending for a client that comes later, without the interrupts answered since. */
export function endingNow(agent: DrivenAgent, ending: Ending): Ending {
  if (ending.type !== 'interrupt') return ending
  const asked = new Set(agent.pending().map(({ key }) => key))
  if (agent.pause !== null && !isWait(agent.pause)) asked.add(pauseInterruptId(agent.id))
  const interrupts = ending.interrupts.filter(({ id }) => asked.has(id))
  return interrupts.length === 0 ? { type: 'success' } : { type: 'interrupt', interrupts }
}

/** Converts token counts to AG-UI's, in which cached tokens are part of the input. */
export function tokenUsage({ input, output, cacheRead, cacheWrite, reasoning }: Usage): TokenUsage {
  const inputTokens = input + cacheRead + cacheWrite
  return {
    inputTokens,
    outputTokens: output,
    totalTokens: inputTokens + output,
    cachedInputTokens: cacheRead,
    cacheWriteInputTokens: cacheWrite,
    ...(reasoning === undefined ? {} : { reasoningTokens: reasoning }),
  }
}

/** Returns the last event of a run. Clients older than AG-UI 1.0 (`isOld`) do not know cancelled runs, and refuse events that they do not know. */
export function lastEvent(
  ending: Ending,
  ids: { threadId: string; runId: string },
  usage: Usage,
  isOld: boolean,
): Event {
  const spent = { usage: [tokenUsage(usage)] }
  if (ending.type === 'error') {
    const { code, message } = ending
    return { type: EventType.RUN_ERROR, code, message, ...spent }
  }
  const { type } = ending
  const outcome = type === 'interrupt' ? { type, interrupts: [...ending.interrupts] } : { type }
  const result = type === 'success' && ending.result !== undefined ? { result: ending.result } : {}
  const ended = isOld && type === 'cancelled' ? {} : { outcome }
  return { type: EventType.RUN_FINISHED, ...ids, ...ended, ...result, ...spent }
}
