import { isWait } from '../../protocol/runs/waits.ts'
import { toErrorInfo, type ErrorInfo } from '../../protocol/errors.ts'
import type { LogRecord } from '../../protocol/records.ts'
import type { RunResult } from '../../protocol/runs/runResult.ts'
import type { TreeAgent } from '../children/treeAgent.ts'
import { RequestedRun } from './requestedRun.ts'

/**
 * Returns the result of the run that a request asked for, or without a request of the newest, from whichever process: at once if it has ended,
 * else once it has, with the runs that continue it. Waits for people, but not for a pause to end. `undefined`: no run was asked for. Rejects as
 * the log does.
 */
export async function awaitRequested(
  agent: TreeAgent,
  records: AsyncIterable<LogRecord>,
  requestId?: string,
): Promise<RunResult | undefined> {
  const run = new RequestedRun(requestId, () => agent.view.definition.output)
  let ended: ErrorInfo | null | undefined = agent.machine.isStopped ? await agent.machine.ended : undefined
  let look = (): void => {}
  const unsubscribe = agent.announcer.subscribe(
    (event) => {
      if (event.agentId === agent.agentId) run.note(event)
      look()
    },
    { descendants: false },
  )
  const forget = agent.machine.onEnd((crash) => {
    ended = crash
    look()
  })
  try {
    await run.catchUp(records)
    if (requestId === undefined && !run.hasBegun) return undefined
    for (;;) {
      if (run.result !== undefined) return await stored(agent, run, run.result)
      if (ended === null) return run.unfinished('aborted')
      if (ended !== undefined) return run.unfinished('error', { error: ended })
      const standing = atRest(agent, run)
      if (standing !== undefined) return standing
      await new Promise<void>((resolve) => (look = resolve))
    }
  } finally {
    forget()
    unsubscribe()
  }
}

/** How the run stands if nothing comes of it by itself. */
function atRest({ machine: { state, context, unseen } }: TreeAgent, run: RequestedRun): RunResult | undefined {
  const { pause: reason, prompts } = context
  if (reason?.type === 'store') return run.unfinished('paused', { reason, error: reason.error })
  if (reason !== null) return isWait(reason) ? undefined : run.unfinished('paused', { reason })
  return state === 'idle' && unseen === 0 && prompts.length === 0 ? run.unfinished('aborted') : undefined
}

/** A result counts once its records are in the store. */
async function stored(agent: TreeAgent, run: RequestedRun, result: RunResult): Promise<RunResult> {
  try {
    await agent.log.durable()
    return result
  } catch (thrown) {
    return run.unfinished('paused', { error: agent.announcer.clean(toErrorInfo(thrown, 'STORE_APPEND_FAILED')) })
  }
}
