import { defineAgent } from '../../../define/src/defineAgent.ts'
import type { AgentOptions } from '../../../../src/actors/define/defineAgent.ts'
import type { Client } from '../../src/client/client.ts'
import type { RemoteAgent } from '../../src/client/remoteAgent.ts'
import { createRuntime } from '../../src/createRuntime.ts'
import type { Message } from '../../../../src/protocol/messages.ts'
import type { Agent } from '../../../../src/runtime/agents/agent.ts'
import { scriptedModel, type ScriptedReply } from '../../../evaluation/src/testing/scriptedModel.ts'
import type { CaseContext } from '../../../../test/support/suite.ts'
import { Heard, serveAgents } from './bridgeHarness.ts'
import { heldCalls } from '../../../../test/support/heldCalls.ts'

/** Members that all kinds of agent have; `Agent` and `RemoteAgent` must fit as they are. */
type Either = Agent | RemoteAgent

/** An agent, and what can be learnt of it. */
export interface World {
  readonly agent: Either
  readonly heard: Heard
  trunk(): Promise<Message[]>
  state(): Promise<string>
  pending(): Promise<readonly string[]>
}

/** Options of the agent's definition. */
export interface WorldOptions extends Partial<Omit<AgentOptions, 'model' | 'name'>> {
  readonly replies?: readonly ScriptedReply[]
}

async function local(context: CaseContext, options: WorldOptions): Promise<World> {
  const { runtime } = await serveAgents(context, [])
  const agent = await runtime.spawn(define(options), { id: 'a1' })
  const heard = new Heard()
  agent.subscribe(heard.listen)
  return {
    agent,
    heard,
    trunk: async () => agent.conversation.trunk().map(({ message }) => message),
    state: async () => agent.state,
    pending: async () => heldCalls(agent),
  }
}

const remote = async (context: CaseContext, options: WorldOptions): Promise<World> =>
  await driven((await serveAgents(context, [define(options)])).connect())

const inProcess = async (context: CaseContext, options: WorldOptions): Promise<World> => {
  const runtime = await createRuntime()
  context.cleanup(() => runtime.close())
  return await driven(await runtime.connect({ definitions: [define(options)] }))
}

async function driven(client: Client): Promise<World> {
  const agent = await client.spawn('tester', { id: 'a1' })
  const heard = new Heard()
  agent.subscribe(heard.listen)
  return {
    agent,
    heard,
    trunk: async () => (await agent.conversation()).nodes.map(({ message }) => message),
    state: async () => (await agent.snapshot()).state,
    pending: async () => (await agent.snapshot()).approvals.map(({ callId }) => callId),
  }
}

/** The same agent: held by code, driven over a socket, and driven in its own process. */
export const worlds = { local, remote, inProcess } as const

const define = ({ replies = [], ...options }: WorldOptions) =>
  defineAgent({ name: 'tester', model: scriptedModel(replies), ...options })
