import { isLikelyBug } from '../../../../src/protocol/callbackBugs.ts'
import type { PrepareInput, TakenMemory } from '../../../../src/machines/effectTypes.ts'
import { asSentence, errorInfo, toErrorInfo, type ErrorInfo } from '../../../../src/protocol/errors.ts'
import type { ContextMessage } from '../../../../src/protocol/runs/queue.ts'
import type { AgentPorts } from '../../../../src/actors/agentPorts.ts'
import { answerInTime } from '../../../../src/actors/timing/answerInTime.ts'
import type { Cancellation } from '../../../../src/actors/timing/cancellation.ts'
import { extract } from './extract.ts'
import type { MemorySettings } from '../../../../src/actors/parts/memory/memoryOptions.ts'
import { recallAtStart } from './recallAtStart.ts'

/**
 * Recalls memories for a turn that begins, and stores what has to be remembered. If the memory fails or
 * hangs, an `error` event reports it, and the agent continues without it. Rejects only when it is cancelled.
 */
export async function useMemory(
  ports: AgentPorts,
  input: PrepareInput,
  cancellation: Cancellation,
): Promise<TakenMemory | undefined> {
  const { memory } = ports.definition
  // The last turn of a run that has reached a limit is to cost no more than it must.
  if (memory === null || input.limit !== undefined) return undefined
  const { key, runId } = input
  const extracted = await extract(ports, memory, { key, runId, signal: cancellation.signal })
  if (extracted?.problem !== undefined)
    report(ports, input, errorInfo('MEMORY_FAILED', asSentence(`Not everything was remembered: ${extracted.problem}`)))
  const recalled = await recall(ports, memory, input, cancellation)
  if (extracted === undefined && recalled.length === 0) return undefined
  return { recalled, ...(extracted === undefined ? {} : { extracted }) }
}

async function recall(
  ports: AgentPorts,
  memory: MemorySettings,
  input: PrepareInput,
  cancellation: Cancellation,
): Promise<readonly ContextMessage[]> {
  // Only when a run begins: what stands there stays as it is.
  if (input.turn > 1) return []
  try {
    const limits = { name: 'the memory', timeoutMs: memory.timeoutMs }
    const { messages, failed } = await answerInTime(ports, limits, cancellation, () => recallAtStart(ports, memory))
    if (failed !== undefined) reportThrown(ports, input, 'Not everything was recalled', failed)
    return messages
  } catch (thrown) {
    cancellation.throwIfAborted()
    reportThrown(ports, input, 'Nothing was recalled', thrown)
    return []
  }
}

function reportThrown(ports: AgentPorts, input: PrepareInput, what: string, thrown: unknown): void {
  if (isLikelyBug(thrown)) ports.callbackFailed?.('The memory', thrown)
  const { code, message } = toErrorInfo(thrown, 'MEMORY_FAILED')
  report(ports, input, { code, message: `${what}: ${message}` })
}

function report(ports: AgentPorts, { runId, turnIndex }: PrepareInput, { code, message }: ErrorInfo): void {
  ports.emit({ type: 'error', runId, turnIndex, error: { code, message: ports.redactor?.text(message) ?? message } })
}
