import type { AgentMachineEvent } from '../../machines/agentTypes.ts'
import { answerIn, answerText } from '../../protocol/runs/run.ts'
import type { ParentLink } from '../../protocol/parentLink.ts'
import type { LogRecord, RecordOf } from '../../protocol/records.ts'
import { answerOf, endingOf, isUnfinished, type ChildAnswer } from './childAnswer.ts'
import type { ChildHosts } from './childHosts.ts'
import type { TreeAgent } from './treeAgent.ts'

type Report = Extract<AgentMachineEvent, { readonly type: 'report' }>
type Reporting = { readonly agentId: string; readonly definition: { readonly name: string } }

/** Returns the report to an agent's caller in the form for the model. Pure. */
export const reportOf = (
  key: string,
  { agentId, definition }: Reporting,
  { text }: ChildAnswer,
): Omit<Report, 'at'> => ({
  type: 'report',
  key,
  content: [{ type: 'text', text: `Report of ${agentId}, the agent "${definition.name}" that you called:\n\n${text}` }],
})

/** Returns the answer of an agent's first run that ended; `undefined` if none has. Later requests are not part of its task. */
export async function firstAnswer(records: AsyncIterable<LogRecord>, name: string): Promise<ChildAnswer | undefined> {
  let text = ''
  // Its process may have died between the start of its run and its task.
  let isBegun = false
  for await (const record of records) {
    if (record.type === 'message.added') isBegun = true
    else if (record.type === 'run.end' && isBegun && !isUnfinished(record))
      return answerOf(endingOf(record, text), { name })
    const said = answerIn(record)
    if (said !== undefined) text = answerText(said)
  }
  return undefined
}

/** Reports the end of a detached agent to its caller. A caller that is not loaded reads it in the log later. */
export function reportEnd(host: TreeAgent, hosts: ChildHosts): void {
  report(host, hosts).catch((thrown: unknown) => host.announcer.fail(thrown))
}

async function report(host: TreeAgent, hosts: ChildHosts): Promise<void> {
  await host.log.durable()
  const answer = await firstAnswer(host.store.read(host.agentId), host.view.definition.name)
  const { parent } = host.machine.input
  const caller = parent === undefined ? undefined : hosts.find(parent.agentId)
  if (answer === undefined || parent?.reports === undefined || caller === undefined || caller.machine.isStopped) return
  const { agentId, view, shared } = host
  const by = { agentId, definition: view.definition }
  caller.machine.send({ ...reportOf(parent.reports, by, answer), at: shared.clock.now() })
}

/** Returns the link to the caller of a log's agent, if the caller waits for a report. An agent that was opened by itself still reports. */
export function callerOf({
  created,
}: {
  readonly created?: RecordOf<'agent.created'> | undefined
}): ParentLink | undefined {
  return created?.parent?.reports !== undefined ? created.parent : undefined
}
