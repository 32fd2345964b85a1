import { isWait } from '../../../../src/protocol/runs/waits.ts'
import type { Agent } from '../../../../src/runtime/agents/agent.ts'
import { chatAtTerminal } from '../chat/chatSessions.ts'
import { isInteractive, exitCodes } from '../cliHost.ts'
import type { CommandRun } from '../command.ts'
import { isOwed, openPast } from '../sessions/openPast.ts'
import type { Session } from '../sessions/openSession.ts'
import { codeOf, watchWork, type RunEnd, type TaskOptions } from '../chat/runTask.ts'
import { refuse } from '../sessions/sessionLogs.ts'
import { pauseText } from '../terminal/sessionText.ts'

/** `escapement resume <id>`: continues a session of `run` or `chat`, even if its process was killed. */
export const resumeCommand: CommandRun = async (invocation, host) => {
  const { task: id = '', json, yes } = invocation
  if (!json && isInteractive(host)) return chatAtTerminal(invocation, host, id)
  const past = await openPast(invocation, host, id)
  if ('refusal' in past) return refuse(host, past.refusal, past.code)
  const { session, isPriced } = past
  try {
    return await goOn(session, { host, json, yes, isPriced })
  } finally {
    await session.close()
  }
}

/** Returns true if nothing more will happen without input. An agent that waits for approvals does not rest, since they are answered here. */
const isAtRest = ({ state, pause }: Agent): boolean =>
  state === 'idle' || state === 'stopped' || (state === 'paused' && !(pause !== null && isWait(pause)))

async function goOn(session: Session, options: TaskOptions): Promise<number> {
  const { agent } = session
  const { host, json } = options
  const say = (text: string): unknown => (json ? host.stderr : host.stdout).write(`${text}\n`)
  if (agent.hasFailed) say('Continuing a failed run.')
  else if (agent.state === 'idle') {
    say(`Session "${agent.id}" has nothing left to do. To continue the conversation, resume it at a terminal.`)
    return exitCodes.done
  }
  if (agent.pause !== null) say(`Continuing a run: ${pauseText(agent.pause)}.`)
  return codeOf(await watchWork(session, () => toRest(agent), options))
}

/** Continues until nothing is left to do, waiting prompts included; returns the outcome of the last run. */
async function toRest(agent: Agent): Promise<RunEnd> {
  let last: RunEnd | undefined = isOwed(agent) || agent.hasFailed ? await agent.resume().result : undefined
  if (!isAtRest(agent)) {
    const rest = Promise.withResolvers<void>()
    // A listener, not an iterable: that is delayed, and the agent could be at rest before its `run.end` is read.
    const unsubscribe = agent.subscribe((event) => {
      if (event.type === 'run.end' && event.agentId === agent.id) last = event
      if (isAtRest(agent)) rest.resolve()
    })
    await rest.promise
    unsubscribe()
  }
  return last ?? { stopReason: 'stop' }
}
