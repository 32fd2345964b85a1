import type { AgentDefinition } from '../../actors/define/agentDefinition.ts'
import type { AgentPorts, IncognitoResult } from '../../actors/agentPorts.ts'
import type { AgentEvent } from '../../protocol/events.ts'
import { RunOutcome } from '../../protocol/runs/run.ts'
import type { RunResult } from '../../protocol/runs/runResult.ts'
import { whyUnfinished } from './childAnswer.ts'
import type { ChildHosts } from './childHosts.ts'
import { runDepsOf } from './runDeps.ts'
import type { TreeAgent } from './treeAgent.ts'

/** Runs a new agent once without storing anything, and ends it afterwards. For the contract see `AgentPorts`. */
export async function runIncognito(
  parent: TreeAgent,
  hosts: ChildHosts,
  definition: AgentDefinition,
  prompt: string,
  { signal, limits, timeoutMs, onStart }: Parameters<AgentPorts['runIncognito']>[2],
): Promise<IncognitoResult> {
  signal.throwIfAborted()
  const { at } = parent.machine
  parent.log.checkHeld()
  const agentId = `${definition.name}-${hosts.newId()}`
  const incognito = hosts.incognitoStore()
  const lease = await hosts.openLog(agentId, incognito)
  if (signal.aborted) await lease.release()
  signal.throwIfAborted()
  const link = { agentId: parent.agentId, ...at }
  const host = hosts.adopt({
    agentId,
    definition,
    lease,
    history: undefined,
    parent,
    link,
    metadata: parent.metadata,
    incognito,
    isUnattended: true,
    deps: runDepsOf(definition, parent.deps, 'incognito agent'),
  })
  const abort = (): void => host.machine.send({ type: 'abort' })
  let isLate = false
  const cancel = host.shared.clock.after(timeoutMs, () => {
    isLate = true
    abort()
  })
  signal.addEventListener('abort', abort, { once: true })
  try {
    onStart?.(() => host.view.spent)
    host.start()
    host.announcer.subscribe((event) => deny(host, event), { descendants: false })
    const id = hosts.newId()
    const run = host.runs.await(new RunOutcome(id))
    host.announcer.requested(id)
    const content = [{ type: 'text', text: prompt }] as const
    host.machine.send({
      type: 'prompt',
      id,
      content,
      at: host.shared.clock.now(),
      ...(limits === undefined ? {} : { limits }),
    })
    const result = await run.result
    signal.throwIfAborted()
    return answerOf(result, isLate ? `it took too long, over ${timeoutMs} ms` : undefined)
  } finally {
    cancel()
    signal.removeEventListener('abort', abort)
    await host.machine.end('close')
    await hosts.release(host)
  }
}

function answerOf(result: RunResult, late: string | undefined): IncognitoResult {
  const { stopReason, text, error, usage, costUsd, turns, childTurns } = result
  const isDone = stopReason === 'stop' && error === undefined
  const problem = isDone ? undefined : (late ?? whyUnfinished(result))
  return {
    text,
    ...('output' in result && isDone ? { output: result.output } : {}),
    ...(problem === undefined ? {} : { problem }),
    usage,
    costUsd,
    turns: turns + childTurns,
  }
}

/** Denies calls and questions that wait for people, of the agent or of one below it. */
function deny(host: TreeAgent, event: AgentEvent): void {
  if (event.type !== 'approval.requested' && event.type !== 'question.asked' && event.type !== 'call.requested') return
  const owner = ownerOf(host, event.agentId)
  const reason = 'Nobody can be asked during this run.'
  owner?.machine.send({ type: 'decide', callId: event.callId, decision: 'deny', reason, at: host.shared.clock.now() })
}

function ownerOf(host: TreeAgent, agentId: string): TreeAgent | undefined {
  if (host.agentId === agentId) return host
  for (const child of host.family.live) {
    const found = ownerOf(child, agentId)
    if (found !== undefined) return found
  }
  return undefined
}
