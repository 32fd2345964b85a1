import { EventType, PROTOCOL_VERSION, type Event, type RunAgentInput } from '@ag-ui/core'
import type { AgentAccess } from '../../bridge/src/server/agentAccess.ts'
import { mustBeOf } from '../../bridge/src/server/oneDefinition.ts'
import { AgUiRun } from './agUiRun.ts'
import { restEnding } from './endings.ts'
import { requestIdOf } from './ids.ts'
import { propOf } from './readInput.ts'
import type { Thread } from './thread.ts'
import { threadOf, type Rules } from './threads.ts'

/**
 * Shows a thread to a client that sends no message: its messages, its state, pending decisions, and the current activity until
 * that ends. No agent is woken. Rejects with `AGENT_NOT_FOUND`, `BRIDGE_FORBIDDEN`, `INVALID_OPTION`, and as the store does.
 */
export async function watchRun(access: AgentAccess, input: RunAgentInput, rules: Rules): Promise<AgUiRun> {
  const { threadId, runId, tools } = input
  const thread = await readThread(access, threadId, rules)
  access.checkAdmitted()
  const run = new AgUiRun(thread.activity, runId, {
    isContinuation: true,
    isLook: true,
    tools: new Set(tools.map(({ name }) => name)),
  })
  run.takeBacklog()
  thread.watch(run)
  const ending = restEnding(thread.agent, { works: access.works(threadId) })
  if (ending !== undefined) run.finish(ending)
  return run
}

/** True if a client only watches a thread. */
export const isLook = (input: RunAgentInput): boolean => propOf(input, 'command') === 'connect'

/** Returns the events for a client that watches a thread which has not begun. */
export const nothingOf = ({ threadId, runId }: RunAgentInput): Event[] => [
  { type: EventType.RUN_STARTED, threadId, runId, protocolVersion: PROTOCOL_VERSION },
  { type: EventType.RUN_FINISHED, threadId, runId, outcome: { type: 'success' } },
]

async function readThread(access: AgentAccess, threadId: string, rules: Rules): Promise<Thread> {
  const agent = await access.reading(threadId)
  mustBeOf(rules.definition, 'threadId', agent)
  return threadOf(agent, rules)
}

/** Aborts a thread's activity, or only one run, even while that run waits its turn. `false`: there was nothing to abort. Rejects as `watchRun`. */
export async function stopRun(
  access: AgentAccess,
  { threadId, runId }: { readonly threadId: string; readonly runId: string | undefined },
  rules: Rules,
): Promise<boolean> {
  access.must('talk', 'stop')
  const thread = await readThread(access, threadId, rules)
  const { agent } = thread
  access.checkAdmitted()
  if (restEnding(agent, { works: access.works(threadId) }) !== undefined) return false
  const run = runId === undefined ? undefined : thread.run(runId)
  if (run?.isOver === true) return false
  // What began under another id may go on under this one.
  if (runId === undefined || run?.isLive === true) agent.abort()
  else agent.dispatch({ type: 'agent.abort', agentId: agent.id, run: requestIdOf(runId) })
  return true
}
