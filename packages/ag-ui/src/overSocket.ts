import { EventType, type RunAgentInput } from '@ag-ui/core'
import { hasCode, RuntimeError } from '../../../src/protocol/errors.ts'
import type { TextSocket } from '../../bridge/src/server/textSocket.ts'
import type { AgentAccess } from '../../bridge/src/server/agentAccess.ts'
import type { AgUiRun } from './agUiRun.ts'
import type { OpenRun } from './openRun.ts'
import { readBody, readInput } from './readInput.ts'
import { RunView } from './runView.ts'
import { isLook, nothingOf } from './watchRun.ts'
import { refusalText } from '../../bridge/src/streams/httpRefusals.ts'
import { SocketSink } from '../../bridge/src/streams/socketSink.ts'

/**
 * Speaks AG-UI over a WebSocket: each incoming text is a RunAgentInput, each outgoing one an event with its `threadId` and `runId`.
 * Runs start in the order of their requests, and several may be under way.
 */
export function overSocket(
  socket: TextSocket,
  access: AgentAccess,
  { open, abortOnLeave }: { readonly open: OpenRun; readonly abortOnLeave: boolean },
): void {
  const sink = new SocketSink(socket, access.limits.highWaterBytes)
  const views = new Map<RunView, AgUiRun>()
  let isClosed = false
  let waiting = 0
  let last: Promise<void> = Promise.resolve()

  const refuse = (thrown: unknown, ids: object): void => {
    const refused = access.outward(thrown)
    const message = refusalText(refused, 'escapement/docs/agUi.md')
    if (!isClosed) sink.send({ ...ids, type: EventType.RUN_ERROR, code: refused.code, message })
  }

  async function begin(input: RunAgentInput): Promise<void> {
    const ids = { threadId: input.threadId, runId: input.runId }
    try {
      if (views.size >= access.limits.subscriptions) {
        throw new RuntimeError('BRIDGE_LIMIT', `${views.size} runs go on here, the most allowed.`)
      }
      const run = await open(input)
      if (isClosed) {
        run.takeBacklog()
        return abortOnLeave ? run.leftBy() : undefined
      }
      const end = (): void => void views.delete(view)
      const view = new RunView(
        run,
        sink.of((event) => ({ ...ids, ...event }), end),
      )
      views.set(view, run)
      view.start(input)
    } catch (thrown) {
      if (!isLook(input) || !hasCode(thrown, 'AGENT_NOT_FOUND')) return refuse(thrown, ids)
      if (!isClosed) for (const event of nothingOf(input)) sink.send(event)
    }
  }

  socket.onText((text) => {
    let input: RunAgentInput
    try {
      if (waiting >= access.limits.waitingCommands) {
        throw new RuntimeError('BRIDGE_LIMIT', `${waiting} runs wait to be begun, the most allowed.`)
      }
      input = readInput(readBody(text, access.limits.depth))
    } catch (thrown) {
      return refuse(thrown, {})
    }
    waiting += 1
    last = last.then(() => begin(input)).finally(() => (waiting -= 1))
  })
  socket.onClose(() => {
    isClosed = true
    sink.close()
    for (const [view, run] of views) {
      if (abortOnLeave && view.isOpen) run.leftBy(view)
      view.close()
    }
  })
}
