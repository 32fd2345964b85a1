import type { Callee } from '../../actors/define/agentDefinition.ts'
import { readState } from '../../actors/parts/state/stateOptions.ts'
import type { QueuedMessage } from '../../protocol/runs/queue.ts'
import type { ChildAnswer } from './childAnswer.ts'
import type { TreeAgent } from './treeAgent.ts'

type Caller = Pick<TreeAgent, 'ports'>

/** Returns why a sub-agent cannot begin with a copy of its caller's state; `undefined` if it can, or needs none. */
export function wrongCopy({ state, definition }: Callee, { ports }: Caller): ChildAnswer | undefined {
  if (state !== 'copy' || definition.state === null) return undefined
  const why =
    ports.state === undefined
      ? 'there is none'
      : readState(definition.state.schema, ports.state.value).wrong?.replace(/^/, 'it does not fit: ')
  if (why === undefined) return undefined
  return {
    text: `Not started: "${definition.name}" begins with a copy of the state of its caller, and ${why}.`,
    isError: true,
  }
}

/** Gives an agent its first message, after the state that it begins with. */
export function promptChild(
  host: TreeAgent,
  prompt: QueuedMessage,
  { agent, caller }: { readonly agent: Callee | undefined; readonly caller: Caller },
): void {
  const isNew = host.view.conversation.state === undefined
  const copied = agent?.state === 'copy' && isNew ? caller.ports.state : undefined
  if (copied !== undefined) host.ports.state?.change(copied.value, { by: 'code' })
  host.machine.send({ type: 'prompt', ...prompt, at: host.shared.clock.now() })
}
