import type { UndoInput, UndoOutput } from '../../machines/drainTypes.ts'
import { isLikelyBug } from '../../protocol/callbackBugs.ts'
import { messageOf, toErrorInfo } from '../../protocol/errors.ts'
import { toolCallsOf } from '../../protocol/messages.ts'
import { cutEnd } from '../../protocol/text/cutMiddle.ts'
import { isRedacted } from '../../protocol/ports/redactor.ts'
import { abortReason } from '../timing/abortReason.ts'
import type { AgentPorts, FindPorts } from '../agentPorts.ts'
import type { Cancellation } from '../timing/cancellation.ts'
import { effect } from '../effect.ts'
import type { Closable } from '../tools/toolContext.ts'
import type { UndoContext } from '../tools/defineTool.ts'

/** Maximum time for undoing one call, whatever the tool's own timeout. */
const mostMs = 60_000
const longestWhy = 300

/** The effect of `draining.undoing`: has a tool undo one call. Any failure is the reason why the call stands. */
export const undoCall = (find: FindPorts) =>
  effect<UndoOutput, UndoInput>(async (input, cancellation) => {
    const ports = find(input.agentId)
    const { key, call } = input
    const step = { call: call.call, undone: false }
    try {
      // The log says first what is going to be undone.
      await ports.durable()
    } catch (thrown) {
      return { key, step, at: ports.clock.now(), notStarted: toErrorInfo(thrown, 'STORE_APPEND_FAILED') }
    }
    cancellation.throwIfAborted()
    const why = await undo(ports, input, cancellation).catch((thrown: unknown) => {
      if (isLikelyBug(thrown) && !cancellation.aborted) ports.callbackFailed?.('undo of a tool', thrown)
      return messageOf(thrown)
    })
    const said = why === undefined ? undefined : cutEnd((ports.redactor?.text(why) ?? why).trim(), longestWhy)
    const at = ports.clock.now()
    return {
      key,
      step: said === undefined ? { ...step, undone: true } : { ...step, why: said || 'its tool failed' },
      at,
    }
  })

/** Undoes the call. Resolves to the reason if it was not tried at all. */
async function undo(ports: AgentPorts, input: UndoInput, cancellation: Cancellation): Promise<string | undefined> {
  const { conversation, definition, agentId, path, snapshots, deps } = ports
  const receiptOf = (id: number): unknown => {
    const message = conversation.node(id)?.message
    return message?.role === 'toolResult' ? message.receipt?.data : undefined
  }
  const node = conversation.node(input.call.call)
  if (node?.message.role !== 'toolResult') return 'its result is gone'
  const { callId, toolName } = node.message
  const tool = definition.tools.get(toolName)
  if (tool?.undo === undefined) return 'there is no tool any more that could undo it'
  const receipts = [node.id, ...input.earlier].map(receiptOf)
  if (receipts.some(isRedacted)) return 'what it kept holds a secret, which the log does not have'
  const calls = toolCallsOf(conversation.node(node.stepId)?.message.content ?? [])
  const { input: said } = node.ranWith ?? calls.find((call) => call.callId === callId) ?? {}
  const [receipt, ...earlier] = receipts
  const context = {
    input: said,
    receipt,
    earlier,
    callId,
    key: input.key,
    snapshots,
    deps: deps as never,
    agent: { id: agentId, path },
    closeWith: (resource: Closable, of: 'agent' | 'runtime') => ports.closeWith?.(resource, of) ?? false,
  }
  await withinTime(ports, Math.min(tool.timeoutMs, mostMs), cancellation, (signal) =>
    tool.undo!({ ...context, signal }, (name) => definition.tools.get(name)),
  )
  return undefined
}

/** Runs the undo with a signal that aborts when the time is up or the run is aborted. Rejects then, even if the undo continues to run. */
function withinTime(
  ports: AgentPorts,
  ms: number,
  cancellation: Cancellation,
  work: (signal: UndoContext['signal']) => Promise<void>,
): Promise<void> {
  const controller = new AbortController()
  return new Promise((resolve, reject) => {
    const end = (reason: Error): void => {
      controller.abort(reason)
      reject(reason)
    }
    const onAbort = (): void => end(abortReason())
    const cancelTimer = ports.clock.after(ms, () =>
      end(new Error(`undoing it timed out after ${ms} ms: it is not known how far that came`)),
    )
    const done = (): void => {
      cancelTimer()
      cancellation.remove(onAbort)
    }
    cancellation.add(onAbort)
    ports
      .within({ type: 'drain' }, async () => work(controller.signal))
      .then(resolve, reject)
      .finally(done)
  })
}
