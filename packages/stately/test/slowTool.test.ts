import { defineAgent } from '../../../src/actors/define/defineAgent.ts'
import { policyModel } from '../../models/src/policyModel.ts'
import { systemClock } from '../../../src/protocol/ports/clock.ts'
import type { Agent } from '../../../src/runtime/agents/agent.ts'
import { createRuntime } from '../../bridge/src/createRuntime.ts'
import { assert, describe, type CaseContext } from '../../../test/support/suite.ts'
import { stately } from '../src/stately.ts'

const echo = defineAgent({ name: 'echo', model: policyModel(({ messages }) => `${messages.length}`) })

/** A tool whose socket holds what the case says. */
async function slowTool({ cleanup }: CaseContext) {
  const runtime = await createRuntime()
  cleanup(() => runtime.close())
  const agent = await runtime.spawn(echo, { id: 'a1' })
  const messages: { type: string; name?: string }[] = []
  let left: (() => void)[] = []
  const close: (() => void)[] = []
  const listeners = new Set<(agent: Agent) => void>()
  const socket = {
    bufferedAmount: 0,
    send(text: string, done?: () => void) {
      messages.push(JSON.parse(text) as { type: string })
      if (done !== undefined) left.push(done)
    },
    close: () => {},
    onText: () => {},
    onClose: (call: () => void) => void close.push(call),
  }
  const access = {
    may: () => true,
    topmost: () => [agent],
    onAgent(listener: (agent: Agent) => void) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    isHidden: () => false,
    limits: { highWaterBytes: 100 },
    clock: systemClock,
    redact: <T>(value: T) => value,
  }
  stately().connect!(socket, access as never)
  return {
    agent,
    messages,
    socket,
    listeners,
    drain(bufferedAmount: number) {
      socket.bufferedAmount = bufferedAmount
      const calls = left
      left = []
      for (const call of calls) call()
    },
    leave: () => {
      for (const call of close) call()
    },
  }
}

const actors = (messages: readonly { type: string }[]): number =>
  messages.filter(({ type }) => type === '@xstate.actor').length

describe('a tool that reads slowly', (it) => {
  it('misses messages above what may wait, and has every actor again below half of it', async (context) => {
    const { agent, messages, socket, drain } = await slowTool(context)
    socket.bufferedAmount = 100
    await agent.prompt('one').result
    assert.ok(messages.length > 3)
    socket.bufferedAmount = 101
    await agent.prompt('two').result
    const before = messages.length
    await agent.prompt('three').result
    assert.is(messages.length, before)
    drain(51)
    await agent.prompt('four').result
    assert.is(messages.length, before)
  })

  it('has every actor once again when it has caught up, and is told each thing once', async (context) => {
    const { agent, messages, socket, drain } = await slowTool(context)
    socket.bufferedAmount = 101
    await agent.prompt('one').result
    assert.is(messages.length, 2)
    drain(50)
    assert.is(actors(messages), 2)
    const before = messages.length
    await agent.prompt('two').result
    const prompts = messages.slice(before).filter((one) => one.type === '@xstate.event')
    assert.is(new Set(prompts.map((one) => JSON.stringify(one))).size, prompts.length)
    // One that was never behind has nothing again.
    const [told, all] = [actors(messages), messages.length]
    drain(0)
    assert.equal([actors(messages), messages.length], [told, all])
  })

  it('holds nothing of an agent that has ended, nor anything once it has left', async (context) => {
    const { agent, messages, socket, drain, leave, listeners } = await slowTool(context)
    leave()
    assert.is(listeners.size, 0)
    const before = messages.length
    await agent.prompt('one').result
    assert.is(messages.length, before)
    socket.bufferedAmount = 0
    drain(0)
    assert.is(messages.length, before)
  })
})
