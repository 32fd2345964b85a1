import { defineAgent } from '../../packages/define/src/defineAgent.ts'
import { scriptedModel, type ScriptedReply } from '../../packages/evaluation/src/testing/scriptedModel.ts'
import type { Conversation } from '../../src/conversation/tree/conversation.ts'
import { rebuildConversation } from '../../src/conversation/tree/rebuildConversation.ts'
import { textOf, toolCallsOf } from '../../src/protocol/messages.ts'
import type { Store } from '../../src/protocol/ports/store.ts'
import type { Agent } from '../../src/runtime/agents/agent.ts'
import { createRuntime, type Runtime } from '../../packages/bridge/src/createRuntime.ts'
import { readHistory } from '../../src/log/readHistory.ts'
import { simulatedClock } from '../../packages/evaluation/src/testing/simulatedClock.ts'
import { tool } from '../support/agentHarness.ts'
import { assert, type CaseContext } from '../support/suite.ts'

/** A runtime on a store that other runtimes use, too: closing one must not close the other's. */
export async function openRuntime({ cleanup }: Pick<CaseContext, 'cleanup'>, store: Store): Promise<Runtime> {
  const runtime = await createRuntime({ store: { ...store, close: async () => {} }, clock: simulatedClock() })
  cleanup(() => runtime.close())
  return runtime
}

export const recordsOf = async (store: Store, agentId: string) => (await readHistory(store, agentId)).records

export async function runEnd(agent: Agent): Promise<void> {
  if (agent.state === 'idle' || agent.state === 'paused') return
  for await (const event of agent.events()) if (event.type === 'run.end') return
}

const shapeOf = (conversation: Conversation) => ({
  trunk: conversation.trunk(),
  log: conversation.log(),
  tags: conversation.tags(),
  queues: conversation.queues,
  tokens: conversation.tokens,
  lastSeq: conversation.lastSeq,
  lastNodeId: conversation.lastNodeId,
  overlay: conversation.overlay,
})

/** The live conversation of a fork is what its history folds to. */
export async function checkRebuild(store: Store, agent: Agent): Promise<void> {
  const { past, records } = await readHistory(store, agent.id)
  const live = agent.conversation as Conversation
  assert.equal(shapeOf(rebuildConversation(records, { past, counter: live.counter })), shapeOf(live))
}

export const idsOf = (agent: Pick<Agent, 'conversation'>): number[] => agent.conversation.trunk().map(({ id }) => id)

export const textsOf = (agent: Pick<Agent, 'conversation'>): string[] =>
  agent.conversation.trunk().map(
    ({ message }) =>
      `${message.role}: ${textOf(message.content)}${toolCallsOf(message.content)
        .map((call) => call.name)
        .join()}`,
  )

export const look = () => tool('look', () => 'seen', { effects: 'none' })

export const talker = (replies: readonly ScriptedReply[]) => {
  const model = scriptedModel(replies)
  return { model, definition: defineAgent({ name: 'tester', model, tools: [look()], checkRequests: true }) }
}
