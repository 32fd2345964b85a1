import { EventType, type Event, type Interrupt, type TokenUsage } from '@ag-ui/core'
import type { Usage } from '../../protocol/messages.ts'
import type { PauseReason, RecordOf } from '../../protocol/records.ts'
import type { RunResult } from '../../runs/runResult.ts'
import type { Agent } from '../../runtime/agents/agent.ts'
import { withOutwardError } from '../bridge/outwardError.ts'
import type { AgentTree } from '../../runtime/agents/agentTree.ts'
import { toolCallIdOf, pauseInterruptId } from './ids.ts'

/** How a run ended. */
export type Ending =
  | { readonly type: 'interrupt'; readonly interrupts: readonly Interrupt[] }
  | { readonly type: 'success'; readonly result?: { readonly stopReason: string; readonly text: string } }
  | { readonly type: 'cancelled' }
  | { readonly type: 'error'; readonly code: string; readonly message: string }

/** The schema of an answer to an approval. */
const approvalAnswer = {
  type: 'object',
  properties: { approved: { type: 'boolean' }, reason: { type: 'string' } },
  required: ['approved'],
}

/** The calls that wait for a decision, as interrupts. */
export const approvalInterrupts = (agent: Agent): Interrupt[] =>
  agent.approvals().map(({ agentId, callId, key, name, input }) => ({
    id: key,
    reason: 'tool_call',
    message: `May "${name}" be called?`,
    toolCallId: toolCallIdOf(agent.id, agentId, callId),
    responseSchema: approvalAnswer,
    metadata: { escapement: { agentId, callId, name, input } },
    ...(agentId === agent.id ? {} : { subagentRunId: agentId }),
  }))

/** Whether nothing can continue before a call is decided, of the agent or of the sub-agents it waits for. */
export const awaitsDecision = (agent: Agent): boolean => agent.approvals().length > 0 && isWaiting(agent.tree())

function isWaiting({ state, children }: AgentTree): boolean {
  const busy = children.filter((child) => child.state !== 'idle' && child.state !== 'stopped')
  return busy.every(isWaiting) && (state === 'paused' || (state === 'executing' && busy.length > 0))
}

/** The end of an agent's run as AG-UI has it. */
export function endingOf(agent: Agent, end: RecordOf<'run.end'> | RunResult, text: string): Ending {
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

/** An ending for a client that comes later: interrupts answered since are left out. */
export function endingNow(agent: Agent, ending: Ending): Ending {
  if (ending.type !== 'interrupt') return ending
  const asked = new Set(agent.approvals().map(({ key }) => key))
  if (agent.pause !== null && agent.pause.type !== 'approvals') asked.add(pauseInterruptId(agent.id))
  const interrupts = ending.interrupts.filter(({ id }) => asked.has(id))
  return interrupts.length === 0 ? { type: 'success' } : { type: 'interrupt', interrupts }
}

/** Tokens as AG-UI counts them: cached ones are part of the input. */
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

/** The last event of a run. */
export function lastEvent(ending: Ending, ids: { threadId: string; runId: string }, usage: Usage): Event {
  const spent = { usage: [tokenUsage(usage)] }
  if (ending.type === 'error') {
    const { code, message } = ending
    return { type: EventType.RUN_ERROR, code, message, ...spent }
  }
  const { type } = ending
  const outcome = type === 'interrupt' ? { type, interrupts: [...ending.interrupts] } : { type }
  const result = type === 'success' && ending.result !== undefined ? { result: ending.result } : {}
  return { type: EventType.RUN_FINISHED, ...ids, outcome, ...result, ...spent }
}
