import { defineAgent } from '../../define/src/defineAgent.ts'
import type { AgentDefinition } from '../../../src/actors/define/agentDefinition.ts'
import { policyModel } from '../../models/src/policyModel.ts'
import { mcpTools } from '../../../src/mcp.ts'
import { textOf } from '../../../src/protocol/messages.ts'
import type { Store } from '../../../src/protocol/ports/store.ts'
import type { LogRecord } from '../../../src/protocol/records.ts'
import type { Agent } from '../../../src/runtime/agents/agent.ts'
import { lateStoreOf } from '../../../test/support/lateStore.ts'
import { ends, logOf } from '../../../test/support/lives.ts'
import type { CaseContext } from '../../../test/support/suite.ts'
import { createRuntime, type Runtime } from '../../bridge/src/createRuntime.ts'
import type { McpOptions } from '../src/client/options.ts'

/** An agent that has the clerk of a server do a task, and says what came of it. */
export const leadOf = (port: number, task: string, options: Partial<McpOptions> = {}): AgentDefinition =>
  defineAgent({
    name: 'lead',
    tools: [mcpTools({ name: 'office', url: `http://127.0.0.1:${port}/mcp`, approve: 'none', ...legacy, ...options })],
    model: policyModel(({ messages }) => {
      const last = messages.at(-1)!
      return last.role === 'toolResult' ? textOf(last.content) : { toolCalls: [{ name: 'clerk', input: { task } }] }
    }),
  })

const legacy = { protocol: 'legacy' } as const

type Logs = { readonly [agentId: string]: readonly LogRecord[] }

/** Begins the agent, or goes on with it from what was in the store when its process died. */
export async function live(context: CaseContext, definition: AgentDefinition, logs?: Logs): Promise<Life> {
  const store = await lateStoreOf(logs ?? {})
  const runtime = await createRuntime({ store })
  context.cleanup(() => runtime.close())
  const agent =
    logs === undefined
      ? await runtime.spawn(definition, { id: 'a1' })
      : await runtime.resume('a1', definition, { continue: true })
  if (logs === undefined) agent.prompt('go')
  return { runtime, agent, store }
}

export interface Life {
  readonly runtime: Runtime
  readonly agent: Agent
  readonly store: Store
}

export async function logIn({ agent, store }: Life): Promise<readonly LogRecord[]> {
  await agent.durable()
  return logOf(store, 'a1')
}

/** Answers whatever waits, until the run has ended. */
export async function finish(life: Life): Promise<{ log: readonly LogRecord[]; said: string }> {
  const { agent } = life
  const over = ends(agent)
  const decide = (): void => {
    for (const { key } of agent.pending()) agent.decide(key, { value: { approve: true } })
  }
  const stop = agent.subscribe((event) => {
    if (event.type === 'state.changed' && event.state === 'paused') setImmediate(decide)
  })
  if (agent.state !== 'idle' || agent.pending().length > 0) {
    decide()
    await over
  }
  stop()
  return { log: await logIn(life), said: textOf(agent.conversation.trunk().at(-1)!.message.content) }
}
