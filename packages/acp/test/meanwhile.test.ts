import { policyModel } from '../../models/src/policyModel.ts'
import { defineAgent } from '../../define/src/defineAgent.ts'
import { assert, describe, type CaseContext } from '../../../test/support/suite.ts'
import type { AgentAccess } from '../../bridge/src/server/agentAccess.ts'
import type { DrivenAgent } from '../../bridge/src/server/drivenAgent.ts'
import { openAcp } from '../src/openAcp.ts'
import { openEditor, openHouse, streamPair } from './acpHarness.ts'

const greeter = () => defineAgent({ name: 'greeter', model: policyModel(() => 'hello') })

type Finds = 'begin' | 'reading' | 'driven'

/** An editor whose agents are found once the case lets go of them, and how many listen to them. */
async function slowly(context: CaseContext, finds: Finds) {
  const { access: accessFor, runtime } = await openHouse(context, [greeter()])
  const access = accessFor()
  const known = await access.begin('greeter')
  const gate = { isShut: false, reached: Promise.withResolvers<void>(), opened: Promise.withResolvers<void>() }
  let listening = 0
  const counted = (agent: DrivenAgent): DrivenAgent =>
    new Proxy(agent, {
      get(target, name) {
        const value: unknown = Reflect.get(target, name, target)
        if (typeof value !== 'function') return value
        if (name !== 'subscribe') return value.bind(target) as unknown
        return (...wants: Parameters<DrivenAgent['subscribe']>) => {
          listening += 1
          const unsubscribe = target.subscribe(...wants)
          return () => {
            listening -= 1
            unsubscribe()
          }
        }
      },
    })
  const find = access[finds].bind(access) as (...given: unknown[]) => ReturnType<AgentAccess[Finds]>
  const late = async (...given: unknown[]) => {
    const agent = await find(...given)
    if (!gate.isShut) return agent
    gate.reached.resolve()
    await gate.opened.promise
    return counted(agent)
  }
  Object.assign(access, { [finds]: late })
  const [ours, theirs] = streamPair()
  const connection = openAcp(ours, access)
  const editor = await openEditor(context, theirs)
  return { runtime, editor, connection, gate, sessionId: known.id, listening: () => listening }
}

const turns = async (): Promise<void> => {
  for (let n = 0; n < 20; n += 1) await new Promise((resolve) => setImmediate(resolve))
}

describe('an editor that leaves while its session is opened', (it) => {
  const ways = [
    ['session/new', 'begin'],
    ['session/load', 'reading'],
    ['session/resume', 'reading'],
  ] as const
  for (const [method, finds] of ways)
    it(`leaves nobody behind who listens: ${method}`, async (context) => {
      const { editor, connection, gate, sessionId, listening } = await slowly(context, finds)
      const place = { cwd: '/', mcpServers: [] }
      gate.isShut = true
      const asked =
        method === 'session/new'
          ? editor.agent.request('session/new', place)
          : editor.agent.request(method, { ...place, sessionId })
      asked.catch(() => {})
      await gate.reached.promise
      connection.close()
      await connection.closed
      gate.opened.resolve()
      await turns()
      assert.is(listening(), 0)
    })
})

describe('a prompt that is cancelled while its agent is woken', (it) => {
  for (const how of ['by a notification', 'with its request'] as const)
    it(`is never said: ${how}`, async (context) => {
      const { runtime, editor, gate, sessionId } = await slowly(context, 'driven')
      await editor.agent.request('session/load', { sessionId, cwd: '/', mcpServers: [] })
      const stop = new AbortController()
      gate.isShut = true
      const asked = editor.agent.request(
        'session/prompt',
        { sessionId, prompt: [{ type: 'text', text: 'x' }] },
        { cancellationSignal: stop.signal },
      )
      await gate.reached.promise
      if (how === 'with its request') stop.abort()
      else await editor.agent.notify('session/cancel', { sessionId })
      await turns()
      gate.opened.resolve()
      assert.is((await asked).stopReason, 'cancelled')
      assert.equal(runtime.agent(sessionId)!.conversation.log(), [])
    })
})

describe('an editor that loads a session twice at once', (it) => {
  for (const methods of [
    ['session/load', 'session/load'],
    ['session/load', 'session/resume'],
    ['session/resume', 'session/resume'],
  ] as const)
    it(`has it once: ${methods.join(', ')}`, async (context) => {
      const { editor, gate, sessionId, listening } = await slowly(context, 'reading')
      gate.isShut = true
      const asked = methods.map((method) => editor.agent.request(method, { sessionId, cwd: '/', mcpServers: [] }))
      await gate.reached.promise
      await turns()
      gate.opened.resolve()
      await Promise.all(asked)
      assert.is(listening(), 1)
      await editor.say(sessionId, 'x')
      assert.is(editor.text(), 'hello')
    })
})
